#include "trireme/base/file/memory_file.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <string>
#include <utility>

#include "trireme/base/check.h"
#include "trireme/base/entropy.h"
#include "trireme/base/error.h"
#include "trireme/base/machine/memory_room.h"

namespace trireme {
namespace {

constexpr std::string_view kLinkPrefix = "/memfd:trireme";
constexpr std::size_t kPage = 4096;
constexpr std::size_t kHugePage = std::size_t{2} << 20;

std::byte* map(int descriptor, std::size_t size) {
  void* mapped =
      ::mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, descriptor, 0);
  return mapped == MAP_FAILED ? nullptr : static_cast<std::byte*>(mapped);
}

}  // namespace

void MemoryFile::Proof::write(ByteWriter& out) const {
  out.put(pid).put(descriptor).put(size).put(nonce[0]).put(nonce[1]);
}

MemoryFile::Proof MemoryFile::Proof::read(ByteReader& in) {
  Proof proof;
  proof.pid = in.get<std::int32_t>();
  proof.descriptor = in.get<std::int32_t>();
  proof.size = in.get<std::uint64_t>();
  proof.nonce[0] = in.get<std::uint64_t>();
  proof.nonce[1] = in.get<std::uint64_t>();
  return proof;
}

MemoryFile MemoryFile::create(std::string_view name, std::size_t size) {
  TRIREME_CHECK(size >= sizeof(Nonce), "a memory file of ", size, " bytes has no room");
  const std::string full = "trireme-" + std::string(name);
  const int descriptor = ::memfd_create(full.c_str(), MFD_CLOEXEC);
  if (descriptor < 0) throw system_error("cannot make a memory file", errno);
  MemoryFile file(descriptor, nullptr, size);
  if (::ftruncate(descriptor, static_cast<off_t>(size)) != 0) {
    throw system_error("cannot size a memory file to " + std::to_string(size) + " bytes", errno);
  }
  file.data_ = map(descriptor, size);
  if (file.data_ == nullptr) throw system_error("cannot map a memory file", errno);
  file.reserve(0, std::min(size, kPage));
  secure_random({file.data_, sizeof(Nonce)});
  return file;
}

std::optional<MemoryFile> MemoryFile::open(const Proof& proof) {
  if (proof.pid <= 0 || proof.descriptor < 0 || proof.size < sizeof(Nonce)) return std::nullopt;
  const std::string path =
      "/proc/" + std::to_string(proof.pid) + "/fd/" + std::to_string(proof.descriptor);
  // Check the link before opening it: opening another process's pipe or terminal could have side
  // effects.
  char link[256];
  const ssize_t length = ::readlink(path.c_str(), link, sizeof(link));
  if (length < 0) return std::nullopt;
  if (std::string_view(link, static_cast<std::size_t>(length)).rfind(kLinkPrefix, 0) != 0) {
    return std::nullopt;
  }
  const int descriptor = ::open(path.c_str(), O_RDWR | O_CLOEXEC);
  if (descriptor < 0) return std::nullopt;
  MemoryFile file(descriptor, nullptr, proof.size);
  struct stat status{};
  if (::fstat(descriptor, &status) != 0 ||
      static_cast<std::uint64_t>(status.st_size) != proof.size) {
    return std::nullopt;
  }
  file.data_ = map(descriptor, proof.size);
  if (file.data_ == nullptr) return std::nullopt;
  if (std::memcmp(file.data_, proof.nonce.data(), sizeof(Nonce)) != 0) return std::nullopt;
  return file;
}

MemoryFile::MemoryFile(MemoryFile&& other) noexcept
    : descriptor_(std::exchange(other.descriptor_, -1)),
      data_(std::exchange(other.data_, nullptr)),
      size_(std::exchange(other.size_, 0)) {}

MemoryFile& MemoryFile::operator=(MemoryFile&& other) noexcept {
  std::swap(descriptor_, other.descriptor_);
  std::swap(data_, other.data_);
  std::swap(size_, other.size_);
  return *this;
}

MemoryFile::~MemoryFile() {
  if (data_ != nullptr) ::munmap(data_, size_);
  if (descriptor_ >= 0) ::close(descriptor_);
}

MemoryFile::Proof MemoryFile::proof() const {
  Proof proof{::getpid(), descriptor_, size_, {}};
  std::memcpy(proof.nonce.data(), data_, sizeof(Nonce));
  return proof;
}

void MemoryFile::reserve(std::size_t offset, std::size_t size) const {
  TRIREME_CHECK(offset <= size_ && size <= size_ - offset, "reserving ", size, " bytes at ", offset,
                " in a memory file of ", size_);
  if (size == 0) return;
  // For some shortages the kernel runs its out-of-memory killer instead of returning an error.
  const std::uint64_t available = size < kPage * 16 ? UINT64_MAX : memory_room();
  if (size > available) {
    throw Error(ErrorCode::Exhausted,
                "shared memory of " + std::to_string(size) + " bytes was asked for, " +
                    std::to_string(available) +
                    " are left on this host, or to this process's control group");
  }
  std::byte* begin = data_ + offset / kPage * kPage;
  const std::size_t length = size + offset % kPage;
#ifdef MADV_POPULATE_WRITE
  // Huge pages are used only if the pages are first touched through a mapping with this advice, and
  // if the host allows them for shared memory (shmem_enabled). This must therefore run before
  // fallocate(2), which would allocate small pages.
  if (size >= kHugePage && ::madvise(begin, length, MADV_HUGEPAGE) == 0) {
    ::madvise(begin, length, MADV_POPULATE_WRITE);
  }
#endif
  // Allocates the remaining pages, and reports whether the whole range is backed by memory.
  if (::fallocate(descriptor_, 0, static_cast<off_t>(offset), static_cast<off_t>(size)) != 0) {
    const int reason = errno;
    release(offset, size);
    throw system_error("cannot reserve " + std::to_string(size) + " bytes of shared memory",
                       reason);
  }
#ifdef MADV_POPULATE_WRITE
  // Also maps the pages in this process, which avoids a page fault for each of them.
  ::madvise(begin, length, MADV_POPULATE_WRITE);
#endif
}

void MemoryFile::release(std::size_t offset, std::size_t size) const noexcept {
  const std::size_t first = (offset + kPage - 1) / kPage * kPage;
  const std::size_t last = (offset + size) / kPage * kPage;
  if (first >= last) return;
  ::fallocate(descriptor_, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, static_cast<off_t>(first),
              static_cast<off_t>(last - first));
}

}  // namespace trireme
