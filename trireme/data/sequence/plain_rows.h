// The bytes or the characters of a text file as tokens, read from the mapped file: a text may be
// larger than memory.
//
// Semantics:     the token of a byte is its value. Characters are numbered in the order of their
//                code points, as in nanoGPT; an index with one entry per 256 characters locates the
//                k-th character.
// Thread safety: immutable; any thread.
// Errors:        NotFound, Io; Corrupt, with the offset, for bytes that are not UTF-8; InvalidInput
//                for a character that is not among the given ones.

#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "trireme/base/file/mapped_file.h"
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
  static constexpr std::int64_t kIndexed = 256;  // characters per index entry

  // If `characters` is empty, those of the text are used.
  explicit CharacterRow(const std::filesystem::path& path,
                        std::vector<std::string> characters = {});

  std::int64_t count() const override { return count_; }
  void read(std::int64_t first, std::int64_t count, std::int64_t* out) const override;
  // The character of each token.
  const std::vector<std::string>& characters() const noexcept { return characters_; }

 private:
  MappedFile file_;
  std::int64_t count_ = 0;
  std::vector<std::size_t> places_;      // byte offset of character i * kIndexed
  std::vector<std::uint32_t> token_of_;  // by code point
  std::vector<std::string> characters_;
};

// The byte of each token of a ByteRow.
std::vector<std::string> all_bytes();

}  // namespace trireme::data::sequence
