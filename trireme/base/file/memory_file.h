// MemoryFile is memory that processes of one host can share. It has no name in a file system: the
// kernel frees it when the last process that maps it exits, even by kill -9.
//
// A process verifies that it shares the memory. The creator sends its Proof (pid, descriptor,
// random nonce) over an authenticated connection; the receiver opens the descriptor through /proc
// and compares the nonce in the memory. The check fails for a process with the same pid on another
// host, in another container or of another user.
//
// Thread safety: one thread uses the MemoryFile object; any thread may access its memory.
// Lifetime:      the destructor unmaps and closes; the mappings of other processes stay valid.

#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include "trireme/base/bytes.h"

namespace trireme {

class MemoryFile {
 public:
  using Nonce = std::array<std::uint64_t, 2>;

  struct Proof {
    std::int32_t pid = 0;
    std::int32_t descriptor = -1;
    std::uint64_t size = 0;
    Nonce nonce{};

    void write(ByteWriter& out) const;
    static Proof read(ByteReader& in);
  };

  // Creates a file of `size` bytes. It reads as zero, except for the nonce in the first 16 bytes,
  // and is not yet backed by memory. Throws Exhausted or Io.
  static MemoryFile create(std::string_view name, std::size_t size);
  // Opens the memory of the process that made the proof. Returns nothing if this process cannot
  // reach it.
  static std::optional<MemoryFile> open(const Proof& proof);

  MemoryFile(MemoryFile&& other) noexcept;
  MemoryFile& operator=(MemoryFile&& other) noexcept;
  ~MemoryFile();

  std::byte* data() const noexcept { return data_; }
  std::size_t size() const noexcept { return size_; }
  int descriptor() const noexcept { return descriptor_; }
  Proof proof() const;

  // Allocates memory for [offset, offset + size) now, from the calling thread's NUMA node, so that
  // later accesses cannot fail. Throws Exhausted if there is not enough; then no memory stays
  // allocated.
  void reserve(std::size_t offset, std::size_t size) const;
  // Returns the whole pages inside the range to the kernel; they read as zero afterwards.
  void release(std::size_t offset, std::size_t size) const noexcept;

 private:
  MemoryFile(int descriptor, std::byte* data, std::size_t size)
      : descriptor_(descriptor), data_(data), size_(size) {}

  int descriptor_ = -1;
  std::byte* data_ = nullptr;
  std::size_t size_ = 0;
};

}  // namespace trireme
