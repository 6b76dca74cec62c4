// How a text is cut into the pieces within which tokens are made: the patterns that published
// tokenizers are trained with, written out by hand.
//
//   Gpt2    's|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+
//   Llama3  (?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}|
//            ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+
//   Qwen2   the same with \p{N} in place of \p{N}{1,3}
//   Marks   before each U+2581, which stands for a blank there
//   Whole   not at all
//
// Meaning: the pieces of a text, one after the other, are the text. Between a character that is not
//          blank and an ASCII blank all patterns cut (Marks and Whole have no blanks left),
//          whatever comes before and after: a long text can be cut there and its parts encoded
//          apart.
// Threads: pure.

#pragma once

#include <cstddef>
#include <string_view>

namespace trireme::data::tokenizer {

enum class Split { Whole, Gpt2, Llama3, Qwen2, Marks };

inline constexpr std::string_view kMark = "\xe2\x96\x81";  // U+2581

// Bytes of the first piece. REQUIRES: the text is not empty.
std::size_t first_piece(std::string_view text, Split split) noexcept;

}  // namespace trireme::data::tokenizer
