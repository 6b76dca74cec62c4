#include "trireme/base/file/mapped_file.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include <cerrno>
#include <utility>

#include "trireme/base/error.h"
#include "trireme/base/file/descriptor.h"

namespace trireme {

MappedFile::MappedFile(const std::filesystem::path& path) : name_(path) {
  const Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (!file && errno == ENOENT) throw Error(ErrorCode::NotFound, name_ + " does not exist");
  struct stat status{};
  if (!file || ::fstat(file.get(), &status) != 0) throw system_error("open " + name_, errno);
  if (!S_ISREG(status.st_mode)) throw Error(ErrorCode::InvalidInput, name_ + " is no file");
  size_ = static_cast<std::size_t>(status.st_size);
  if (size_ == 0) return;  // mmap(2) rejects a size of 0
  void* const pages = ::mmap(nullptr, size_, PROT_READ, MAP_SHARED, file.get(), 0);
  if (pages == MAP_FAILED) throw system_error("map " + name_, errno);
  data_ = static_cast<const std::byte*>(pages);
}

MappedFile::MappedFile(MappedFile&& other) noexcept
    : name_(std::move(other.name_)),
      data_(std::exchange(other.data_, nullptr)),
      size_(std::exchange(other.size_, 0)) {}

MappedFile& MappedFile::operator=(MappedFile&& other) noexcept {
  std::swap(name_, other.name_);
  std::swap(data_, other.data_);
  std::swap(size_, other.size_);
  return *this;
}

MappedFile::~MappedFile() {
  if (data_ != nullptr) ::munmap(const_cast<std::byte*>(data_), size_);
}

}  // namespace trireme
