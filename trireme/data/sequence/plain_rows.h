// The bytes or the characters of a text file as tokens, read where the file lies: a text may be
// larger than memory.
//
// Meaning: a byte is its own number. Characters are numbered in the order of their code points, as
//          nanoGPT has it; where the k-th begins is found by an index, a place for every 256.
// Threads: constant; any thread.
// Failure: NotFound, Io; Corrupt, with the offset, for bytes that are no UTF-8.

#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "trireme/base/mapped_file.h"
#include "trireme/data/sequence/token_row.h"

namespace trireme::data::sequence {

class ByteRow final : public TokenRow {
 public:
  explicit ByteRow(const std::filesystem::path& path) : file_(path) {}

  std::int64_t count() const override { return static_cast<std::int64_t>(file_.bytes().size()); }
  void read(std::int64_t first, std::int64_t count, std::int64_t* out) const override;

 private:
  MappedFile file_;
};

class CharacterRow final : public TokenRow {
 public:
  static constexpr std::int64_t kIndexed = 256;  // characters from one place to the next

  explicit CharacterRow(const std::filesystem::path& path);

  std::int64_t count() const override { return count_; }
  void read(std::int64_t first, std::int64_t count, std::int64_t* out) const override;
  // What token i is.
  const std::vector<std::string>& characters() const noexcept { return characters_; }

 private:
  MappedFile file_;
  std::int64_t count_ = 0;
  std::vector<std::size_t> places_;      // byte offset of character i * kIndexed
  std::vector<std::uint32_t> token_of_;  // by code point
  std::vector<std::string> characters_;
};

// What the tokens of a ByteRow are.
std::vector<std::string> all_bytes();

}  // namespace trireme::data::sequence
