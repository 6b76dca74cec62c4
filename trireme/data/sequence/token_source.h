// Reads a list of token shards as windows; a window never spans two shards.
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

Sets open_tokens(const TokensConfig& config);
std::shared_ptr<const Source> open_test_tokens(const TokensConfig& config);

}  // namespace trireme::data::sequence
