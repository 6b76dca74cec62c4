// Strict UTF-8 validation: overlong forms, surrogates and values above U+10FFFF are rejected, as
// strict JSON and TOML readers do.
//
// Thread safety: pure functions; any thread may call them.

#pragma once

#include <cstddef>
#include <string_view>

namespace trireme {

// The length of the well-formed character at the start of `text`; 0 if it is not well-formed.
std::size_t utf8_length(std::string_view text) noexcept;

bool is_utf8(std::string_view text) noexcept;

}  // namespace trireme
