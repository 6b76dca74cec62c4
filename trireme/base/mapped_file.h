// MappedFile is a file that is read where it lies, page by page as it is touched: opening takes no
// time and memory is the kernel's to take back.
//
// Threads:  constant; any thread.
// Failure:  NotFound or Io. A file that is cut short while it is mapped kills whoever reads there:
//           data files are replaced, not rewritten.
// Lifetime: the pages live as long as the object.

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
