// Splits a text into documents, and a document into parts that are small enough to be encoded one
// after the other. A text of any size is converted to tokens with only one part of it in memory.
//
// Thread safety: pure functions; any thread.

#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string_view>

#include "trireme/data/tokenizer/tokenizer.h"

namespace trireme::data::tokenizer {

// What a document is: the whole text, a line, the text between two blank lines, or the member
// `text` of the JSON object in each line.
enum class Documents { Text, Lines, Blocks, JsonLines };

// The documents of a text in order, without separators. None is empty.
// Errors: Corrupt, with the line number, for a line that is not an object with a text.
void for_each_document(std::string_view text, Documents documents,
                       const std::function<void(std::string_view)>& take);

inline constexpr std::size_t kPartSize = std::size_t{1} << 20;

// Size in bytes of the first part of a document: at least `size` if the document is that long, then
// up to the next ASCII blank after a non-blank character, where every tokenizer splits.
std::size_t first_part(std::string_view document, std::size_t size = kPartSize) noexcept;

struct EncodeOptions {
  Documents documents = Documents::Text;
  std::optional<Token> end = {};  // appended to each document
  // Called with the tokens of one part at a time, including those added before and after it.
  std::function<void(std::span<const Token>)> take;
};

// Returns the number of tokens.
std::int64_t encode_documents(const Tokenizer& tokenizer, std::string_view text,
                              const EncodeOptions& options);

}  // namespace trireme::data::tokenizer
