// Quotes text for a shell, so that it stays one word whatever characters it contains.
//
// Thread safety: pure functions; any thread may call them.

#pragma once

#include <string>
#include <string_view>

namespace trireme {

// Always in single quotation marks.
std::string shell_quoted(std::string_view text);

// Unchanged if a shell reads it as one plain word, otherwise quoted.
std::string shell_word(std::string_view word);

}  // namespace trireme
