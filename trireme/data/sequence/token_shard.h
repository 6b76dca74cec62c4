// TokenShard is a .bin file of tokens, mapped: little-endian numbers of 16 or 32 bits one after the
// other, as nanoGPT writes them, or behind the header of 1024 bytes that llm.c puts before them
// (its first number says which: 20240520 with 16 bits, 20240801 with 32).
//
// Threads: constant; any thread.
// Failure: Corrupt, with file and offset, for half a token, for a header that does not fit the
// file,
//          and on reading for a token outside the vocabulary; NotFound, Io.

#pragma once

#include <cstdint>
#include <filesystem>

#include "trireme/base/mapped_file.h"
#include "trireme/data/sequence/tokens_config.h"

namespace trireme::data::sequence {

class TokenShard {
 public:
  TokenShard(const std::filesystem::path& path, TokenType type, std::int64_t vocabulary);

  std::int64_t count() const noexcept { return count_; }
  const std::string& name() const noexcept { return file_.name(); }

  // Tokens first .. first + count - 1. REQUIRES: they are there.
  void read(std::int64_t first, std::int64_t count, std::int64_t* out) const;

 private:
  template <class Number>
  void read_as(std::int64_t first, std::int64_t count, std::int64_t* out) const;

  MappedFile file_;
  std::size_t width_;  // bytes a token
  std::int64_t vocabulary_;
  std::size_t offset_ = 0;  // of the first token
  std::int64_t count_ = 0;
};

}  // namespace trireme::data::sequence
