// TokenFile writes tokens to a file of little-endian numbers, with 16 bits each if the vocabulary
// allows it and 32 otherwise. Data of kind `tokens` reads this format.
//
// Semantics:     the file gets its final name in finish().
// Thread safety: one thread.
// Errors:        Io or Exhausted. No file remains after an error, or if finish() is never called.

#pragma once

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>

#include "trireme/base/file/descriptor.h"
#include "trireme/data/tokenizer/merges.h"

namespace trireme::data::tokenizer {

// Bytes per token.
constexpr std::size_t token_width(std::size_t vocabulary) noexcept {
  return vocabulary <= 1U << 16 ? 2 : 4;
}

class TokenFile {
 public:
  TokenFile(const std::filesystem::path& path, std::size_t vocabulary);
  ~TokenFile();
  TokenFile(const TokenFile&) = delete;
  TokenFile& operator=(const TokenFile&) = delete;

  void add(std::span<const Token> tokens);
  void finish();

 private:
  [[noreturn]] void fail(const char* what) const;

  std::filesystem::path path_;
  std::string temporary_;
  std::size_t width_;
  Descriptor file_;
  bool is_finished_ = false;
};

}  // namespace trireme::data::tokenizer
