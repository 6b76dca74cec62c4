// MemoryFile is memory that processes of one host can share and that no name keeps alive: it is
// gone when the last process that has it mapped is gone, kill -9 included.
//
// Sharing is proven, never assumed: a process hands its Proof (pid, descriptor, random nonce) to
// another by some authenticated way; the other opens the descriptor through /proc, and reads the
// nonce back from the memory itself. A process of another host, container or user that happens
// to have the same pid fails that test.
//
// Threads:  a MemoryFile is used from one thread; its memory from any.
// Lifetime: the destructor unmaps and closes; others keep their mappings.

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

  // A new file of `size` bytes, all zero and none of them yet backed by memory, except for the
  // nonce in its first 16. Throws Exhausted or Io.
  static MemoryFile create(std::string_view name, std::size_t size);
  // The same memory as the process that made the proof, or nothing if it is not reachable here.
  static std::optional<MemoryFile> open(const Proof& proof);

  MemoryFile(MemoryFile&& other) noexcept;
  MemoryFile& operator=(MemoryFile&& other) noexcept;
  ~MemoryFile();

  std::byte* data() const noexcept { return data_; }
  std::size_t size() const noexcept { return size_; }
  int descriptor() const noexcept { return descriptor_; }
  Proof proof() const;

  // Backs [offset, offset + size) with memory now, from this thread's node, so that later touches
  // cannot fail. Throws Exhausted when there is not enough; nothing is then kept.
  void reserve(std::size_t offset, std::size_t size) const;
  // Gives whole pages inside the range back; they read as zero afterwards.
  void release(std::size_t offset, std::size_t size) const noexcept;

 private:
  MemoryFile(int descriptor, std::byte* data, std::size_t size)
      : descriptor_(descriptor), data_(data), size_(size) {}

  int descriptor_ = -1;
  std::byte* data_ = nullptr;
  std::size_t size_ = 0;
};

}  // namespace trireme
