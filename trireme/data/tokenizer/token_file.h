// TokenFile writes tokens as they come into a file of little-endian numbers, 16 bits each where the
// vocabulary allows it and 32 otherwise: what data of kind `tokens` reads.
//
// Meaning: the file has its name once finish() was called, and not before.
// Threads: one.
// Failure: Io or Exhausted; nothing is left then, nor where finish() is never called.

#pragma once

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>

#include "trireme/base/descriptor.h"
#include "trireme/data/tokenizer/merges.h"

namespace trireme::data::tokenizer {

// Bytes a token.
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
