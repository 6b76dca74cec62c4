#include "trireme/data/sequence/encoded_row.h"

#include <algorithm>

#include "trireme/base/bytes.h"
#include "trireme/base/check.h"
#include "trireme/base/error.h"
#include "trireme/base/file/mapped_file.h"
#include "trireme/base/hash/xxh64.h"
#include "trireme/data/tokenizer/documents.h"
#include "trireme/data/tokenizer/token_file.h"

namespace trireme::data::sequence {
namespace {

namespace fs = std::filesystem;
using tokenizer::Token;
using tokenizer::Tokenizer;

void add_tokenizer(ByteWriter& all, const Tokenizer& tokenizer) {
  const tokenizer::TokenizerParts& parts = tokenizer.parts();
  all.put(parts.pieces.size()).put(parts.merges.size());
  for (const std::string& piece : parts.pieces) all.put_text(piece);
  for (const auto& merge : parts.merges) all.put(merge.left).put(merge.right).put(merge.result);
  for (const auto* list : {&parts.specials, &parts.before, &parts.after}) {
    all.put(list->size());
    for (const Token token : *list) all.put(token);
  }
  for (const bool is_so : {parts.is_over_bytes, parts.has_byte_tokens, parts.is_whole_word_first,
                           parts.is_unknown_fused}) {
    all.put(is_so);
  }
  all.put(static_cast<int>(parts.split)).put(static_cast<int>(parts.prefix));
  all.put(parts.unknown.has_value()).put(parts.unknown.value_or(0));
}

// Hashing runs at the speed of memory, a hundred times faster than a tokenizer.
fs::path kept_file(const TextConfig& config, ByteView content, const Tokenizer& tokenizer) {
  ByteWriter all;
  all.put(content.size()).put(xxh64(content));
  all.put(static_cast<int>(config.documents)).put_text(config.document_end);
  add_tokenizer(all, tokenizer);
  ByteWriter digest;
  digest.put(xxh64(all.bytes()));
  return config.cache / (config.file.filename().string() + "." + to_hex(digest.bytes()) + ".bin");
}

}  // namespace

std::optional<Token> end_token(const TextConfig& config, const Tokenizer& tokenizer) {
  if (config.document_end.empty()) return std::nullopt;
  const auto token = tokenizer.find(config.document_end);
  if (token) return token;
  throw Error(ErrorCode::InvalidInput, "data.document_end: " + config.tokenizer.string() +
                                           " has no token '" + config.document_end + "'");
}

EncodedRow::EncodedRow(const TextConfig& config, const Tokenizer& tokenizer) try {
  const MappedFile file(config.file);
  tokenizer::EncodeOptions how{.documents = config.documents,
                               .end = end_token(config, tokenizer),
                               .take = [this](std::span<const Token> tokens) {
                                 tokens_.insert(tokens_.end(), tokens.begin(), tokens.end());
                               }};
  if (config.cache.empty()) {
    tokenizer::encode_documents(tokenizer, text_of(file.bytes()), how);
    return;
  }
  fs::create_directories(config.cache);
  const fs::path path = kept_file(config, file.bytes(), tokenizer);
  if (!fs::exists(path)) {
    // Ranks that encode at the same time write the same content, each under its own temporary name.
    tokenizer::TokenFile out(path, tokenizer.size());
    how.take = [&](std::span<const Token> tokens) { out.add(tokens); };
    tokenizer::encode_documents(tokenizer, text_of(file.bytes()), how);
    out.finish();
  }
  const bool is_narrow = tokenizer::token_width(tokenizer.size()) == 2;
  shard_.emplace(path, is_narrow ? TokenType::Uint16 : TokenType::Uint32,
                 static_cast<std::int64_t>(tokenizer.size()));
} catch (const Error& error) {
  if (error.code() != ErrorCode::Corrupt) throw;
  throw Error(ErrorCode::Corrupt, config.file.string() + ": " + error.message());
}
void EncodedRow::read(std::int64_t first, std::int64_t count, std::int64_t* out) const {
  if (shard_) return shard_->read(first, count, out);
  TRIREME_CHECK(first >= 0 && count >= 0 && first <= std::ssize(tokens_) - count, "tokens ", first,
                " to ", first + count, " of ", tokens_.size());
  std::copy_n(tokens_.begin() + first, count, out);
}

}  // namespace trireme::data::sequence
