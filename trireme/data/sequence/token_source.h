// TokenSource is a list of token shards, read as windows; a window never spans two shards.
//
// Semantics: input and target are int64 (context), as in trireme/data/sequence/windows.h.
// Errors:    opening throws InvalidInput, NotFound or Corrupt; read() throws Corrupt for a token
//            outside the vocabulary.

#pragma once

#include <filesystem>
#include <vector>

#include "trireme/base/config/fields.h"
#include "trireme/data/registry.h"
#include "trireme/data/sequence/token_shard.h"
#include "trireme/data/source/source.h"

namespace trireme::data::sequence {

// The `[data]` section of kind tokens.
struct TokensConfig {
  std::vector<std::filesystem::path> train = {};  // NOLINT(readability-redundant-member-init)
  std::vector<std::filesystem::path> test = {};   // NOLINT(readability-redundant-member-init)
  TokenType type = TokenType::Uint16;
  std::int64_t vocabulary = 50257;
  std::int64_t context = 1024;
  std::int64_t stride = 0;
  std::int64_t document_end = -1;

  static void describe(config::Fields<TokensConfig>& f);
};

class TokenSource final : public Source {
 public:
  // A folder is replaced by its .bin files in the order of their names.
  TokenSource(const TokensConfig& config, const std::vector<std::filesystem::path>& paths);

  std::int64_t count() const override { return ends_.empty() ? 0 : ends_.back(); }
  const Form& form() const override { return form_; }
  void read(std::int64_t sample, const SampleKey& key, void* input, void* target) const override;

 private:
  std::vector<TokenShard> shards_;
  std::vector<std::int64_t> ends_;  // windows in this shard and all shards before it
  std::int64_t context_;
  std::int64_t stride_;
  Form form_;
};

Sets open_tokens(const TokensConfig& config);
std::shared_ptr<const Source> open_test_tokens(const TokensConfig& config);

}  // namespace trireme::data::sequence
