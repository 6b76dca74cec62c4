// EncodedRow is a text as the tokens of a tokenizer: in memory, or, where a folder is given to keep
// them, in a file there that is mapped, so that the text may be larger than memory and is encoded
// once for all ranks and jobs to come.
//
// Meaning:  the kept file is called by the text's name, and by what decides its content: the text's
//           size and time of change, the tokenizer, and how documents are cut. A text that was
//           written again is encoded again.
// Threads:  constant; any thread.
// Failure:  NotFound, Io, Exhausted; InvalidInput where the tokenizer has no token of the name that
//           is to end documents.

#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "trireme/data/sequence/text_config.h"
#include "trireme/data/sequence/token_row.h"
#include "trireme/data/sequence/token_shard.h"
#include "trireme/data/tokenizer/tokenizer.h"

namespace trireme::data::sequence {

class EncodedRow final : public TokenRow {
 public:
  EncodedRow(const TextConfig& config, const tokenizer::Tokenizer& tokenizer);

  std::int64_t count() const override;
  void read(std::int64_t first, std::int64_t count, std::int64_t* out) const override;

 private:
  std::vector<tokenizer::Token> tokens_;
  std::optional<TokenShard> shard_;  // instead
};

// The token that ends documents; nothing where the settings name none.
std::optional<tokenizer::Token> end_token(const TextConfig& config,
                                          const tokenizer::Tokenizer& tokenizer);

}  // namespace trireme::data::sequence
