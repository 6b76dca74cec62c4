// MappedFile is a read-only memory-mapped file. Pages are loaded when they are accessed, so opening
// is immediate and the kernel can reclaim the memory.
//
// Thread safety: immutable; any thread may read it.
// Errors:        NotFound or Io. If the file is truncated while it is mapped, a process that reads
//                past the new end is killed (SIGBUS). Replace data files instead of rewriting them.
// Lifetime:      the mapping is valid as long as the object.

#pragma once

#include <filesystem>
#include <string>

#include "trireme/base/bytes.h"

namespace trireme {

class MappedFile {
 public:
  explicit MappedFile(const std::filesystem::path& path);
  MappedFile(MappedFile&& other) noexcept;
  MappedFile& operator=(MappedFile&& other) noexcept;
  ~MappedFile();

  const std::string& name() const noexcept { return name_; }
  ByteView bytes() const noexcept { return {data_, size_}; }

 private:
  std::string name_;
  const std::byte* data_ = nullptr;
  std::size_t size_ = 0;
};

}  // namespace trireme
