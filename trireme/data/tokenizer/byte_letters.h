// The letters that GPT-2's files write bytes with: printable ones stand for themselves, the other
// 68 for U+0100 and on, so that every byte is a letter that can be seen (a blank is U+0120).
//
// Threads: pure.

#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace trireme::data::tokenizer {

// In the order of their letters: the order in which vocabularies begin.
std::string bytes_by_letter();

std::string to_letters(std::string_view bytes);

// Nothing where a character stands for no byte.
std::optional<std::string> from_letters(std::string_view letters);

}  // namespace trireme::data::tokenizer
