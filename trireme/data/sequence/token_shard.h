// TokenShard is a memory-mapped .bin file of tokens: consecutive little-endian numbers of 16 or 32
// bits, as nanoGPT writes them, optionally after the 1024-byte header of llm.c (its first number
// gives the format: 20240520 for 16 bits, 20240801 for 32).
//
// Thread safety: immutable; any thread.
// Errors:        Corrupt, with file and offset, for an incomplete token, for a header that does not
//                match the file, and in read() for a token outside the vocabulary; NotFound, Io.

#pragma once

#include <cstdint>
#include <filesystem>

#include "trireme/base/file/mapped_file.h"

namespace trireme::data::sequence {

enum class TokenType { Uint16, Uint32 };

class TokenShard {
 public:
  TokenShard(const std::filesystem::path& path, TokenType type, std::int64_t vocabulary);

  std::int64_t count() const noexcept { return count_; }
  const std::string& name() const noexcept { return file_.name(); }

  // Reads tokens first .. first + count - 1. REQUIRES: they exist.
  void read(std::int64_t first, std::int64_t count, std::int64_t* out) const;

 private:
  template <class Number>
  void read_as(std::int64_t first, std::int64_t count, std::int64_t* out) const;

  MappedFile file_;
  std::size_t width_;  // bytes per token
  std::int64_t vocabulary_;
  std::size_t offset_ = 0;  // of the first token
  std::int64_t count_ = 0;
};

}  // namespace trireme::data::sequence
