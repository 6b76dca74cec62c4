// EncodedRow is a text as the tokens of a tokenizer: in memory or, if a cache folder is set, in a
// memory-mapped file there. With a cache folder the text may be larger than memory and is encoded
// only once for all ranks and later jobs.
//
// Semantics:     the name of the cached file contains the name of the text and a hash of what
//                determines the content: the text itself, the tokenizer and how documents are
//                separated. The path and the modification time of the text do not matter.
// Thread safety: immutable; any thread.
// Errors:        NotFound, Io, Exhausted; InvalidInput if the tokenizer has no token with the
//                configured document-end name.

#pragma once

#include <optional>
#include <vector>

#include "trireme/data/sequence/text_config.h"
#include "trireme/data/sequence/token_row.h"
#include "trireme/data/sequence/token_shard.h"
#include "trireme/data/tokenizer/tokenizer.h"

namespace trireme::data::sequence {

class EncodedRow final : public TokenRow {
 public:
  EncodedRow(const TextConfig& config, const tokenizer::Tokenizer& tokenizer);

  std::int64_t count() const override { return shard_ ? shard_->count() : std::ssize(tokens_); }
  void read(std::int64_t first, std::int64_t count, std::int64_t* out) const override;

 private:
  std::vector<tokenizer::Token> tokens_;
  std::optional<TokenShard> shard_;  // used instead of tokens_
};

// The token that ends documents; empty if the settings name none.
std::optional<tokenizer::Token> end_token(const TextConfig& config,
                                          const tokenizer::Tokenizer& tokenizer);

}  // namespace trireme::data::sequence
