// Splits a text into the pieces within which tokens are merged. These are the patterns of published
// tokenizers, implemented by hand.
//
//   Gpt2    's|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+
//   Llama3  (?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}|
//            ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+
//   Qwen2   the same with \p{N} in place of \p{N}{1,3}
//   Marks   before each U+2581, which represents a blank there
//   Whole   no split
//
// Semantics:     the concatenated pieces are the text. All patterns split between a non-blank
//                character and an ASCII blank (with Marks and Whole there are no blanks left),
//                whatever comes before and after. A long text can therefore be cut there and its
//                parts encoded separately.
// Thread safety: pure functions; any thread.

#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace trireme::data::tokenizer {

enum class Split { Whole, Gpt2, Llama3, Qwen2, Marks };

inline constexpr std::string_view kMark = "\xe2\x96\x81";  // U+2581

// The regular expression above. REQUIRES: Gpt2, Llama3 or Qwen2.
std::string pattern_of(Split split);

// Size in bytes of the first piece. REQUIRES: the text is not empty.
std::size_t first_piece(std::string_view text, Split split) noexcept;

}  // namespace trireme::data::tokenizer
