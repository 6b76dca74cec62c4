// IdxFile is an IDX file in memory: the format of MNIST, a tensor of bytes after a small header.
//
//   bytes 0-1  zero
//   byte 2     0x08: unsigned bytes, the only supported type
//   byte 3     number of dimensions, 1 to 4
//   then       each dimension, 32 bits, big-endian; then the elements
//
// A file whose name ends in .gz is decompressed first.
//
// Thread safety: a value type.
// Errors:        Corrupt, InvalidInput or NotFound, with the name of the file and the offset. A
//                file that is one byte too short or too long is rejected.

#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace trireme::data::idx {

class IdxFile {
 public:
  static IdxFile read(const std::filesystem::path& path);
  // `name` is used in messages.
  static IdxFile parse(std::string content, std::string name);

  const std::string& name() const noexcept { return name_; }
  const std::vector<std::int64_t>& sizes() const noexcept { return sizes_; }
  const std::uint8_t* data() const noexcept {
    return reinterpret_cast<const std::uint8_t*>(content_.data()) + offset();
  }
  // Offset of the first element in the (decompressed) file.
  std::size_t offset() const noexcept { return 4 + 4 * sizes_.size(); }

 private:
  std::string name_;
  std::string content_;
  std::vector<std::int64_t> sizes_;
};

}  // namespace trireme::data::idx
