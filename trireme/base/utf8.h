// Well-formed UTF-8, told from bytes that only look like it: overlong forms, surrogates and values
// past U+10FFFF are refused, as every strict reader of JSON and TOML does.
//
// Threads: pure.

#pragma once

#include <cstddef>
#include <string_view>

namespace trireme {

// The length of the well-formed character at the start of `text`; 0 where there is none.
std::size_t utf8_length(std::string_view text) noexcept;

bool is_utf8(std::string_view text) noexcept;

}  // namespace trireme
