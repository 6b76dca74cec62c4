// The letters by which GPT-2's files represent bytes: printable bytes represent themselves, the
// other 68 are written as U+0100 and following, so that every byte is a visible letter (a blank is
// U+0120).
//
// Thread safety: pure functions; any thread.

#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace trireme::data::tokenizer {

// All bytes in the order of their letters, which is the order in which vocabularies begin.
std::string bytes_by_letter();

std::string to_letters(std::string_view bytes);

// Empty if a character represents no byte.
std::optional<std::string> from_letters(std::string_view letters);

}  // namespace trireme::data::tokenizer
