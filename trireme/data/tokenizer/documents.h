// A text as documents, and a document as parts small enough to be encoded one after the other: a
// text of any size is turned into tokens without holding more than a part of it.
//
// Threads: pure.

#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string_view>

#include "trireme/data/tokenizer/tokenizer.h"

namespace trireme::data::tokenizer {

// What a document is: the whole text, a line, what lies between two blank lines, or the member
// `text` of the JSON object that a line is.
enum class Documents { Text, Lines, Blocks, JsonLines };

// The documents of a text in order, without what parts them. None is empty.
// Failure: Corrupt, with the number of the line, for one that is no object with a text.
void for_each_document(std::string_view text, Documents documents,
                       const std::function<void(std::string_view)>& take);

inline constexpr std::size_t kPartSize = std::size_t{1} << 20;

// Bytes of the first part of a document: at least `size` where there are as many, and then up to
// the next ASCII blank behind a character that is not blank, where every tokenizer cuts.
std::size_t first_part(std::string_view document, std::size_t size = kPartSize) noexcept;

struct EncodeOptions {
  Documents documents = Documents::Text;
  std::optional<Token> end = {};  // put after each document
  // Tokens as they come: at most those of a part, and what is put around it.
  std::function<void(std::span<const Token>)> take;
};

// Says how many tokens there were.
std::int64_t encode_documents(const Tokenizer& tokenizer, std::string_view text,
                              const EncodeOptions& options);

}  // namespace trireme::data::tokenizer
