// TokensConfig is the `[data]` section of kind tokens.
//
// Thread safety: a value type.

#pragma once

#include <filesystem>

#include "trireme/base/config/fields.h"

namespace trireme::data::sequence {

enum class TokenType { Uint16, Uint32 };

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

}  // namespace trireme::data::sequence
