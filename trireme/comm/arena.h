// Arena is memory that the ranks of one host share: what lies in it is read and written by all of
// them in place, without a copy.
//
// It belongs to the host's job, not to a group or a process: what a rank wrote stays readable
// after that rank has died, for as long as one process keeps the arena. Nothing of it has a name
// in the file system, so nothing stays behind.
//
// Layout:  a header (doorbells, directory), a common part for things that ranks make together
//          (found by key), and one segment a member, in which that member alone allocates. Address
//          space is laid out once; memory is taken when it is allocated.
// Failure: a shortage is ErrorCode::Exhausted at allocate(), never SIGBUS at a later touch.
// Threads: any thread may allocate and free; the bytes are the callers' own affair.

#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "trireme/base/deadline.h"
#include "trireme/base/memory_file.h"

namespace trireme::comm {

enum class MemoryKind : std::uint8_t { Host, Pinned, CudaIpc };

class Arena;

// A piece of an arena; goes back when destroyed.
class Piece {
 public:
  Piece() = default;
  Piece(std::shared_ptr<Arena> arena, int member, std::byte* data, std::size_t size)
      : arena_(std::move(arena)), member_(member), data_(data), size_(size) {}
  Piece(Piece&& other) noexcept { *this = std::move(other); }
  Piece& operator=(Piece&& other) noexcept;
  ~Piece();

  std::byte* data() const noexcept { return data_; }
  std::size_t size() const noexcept { return size_; }

 private:
  std::shared_ptr<Arena> arena_;
  int member_ = 0;
  std::byte* data_ = nullptr;
  std::size_t size_ = 0;
};

class Arena : public std::enable_shared_from_this<Arena> {
 public:
  struct Options {
    int members = 1;
    // Address space a member; memory is taken only as it is used.
    std::size_t segment_size = std::size_t{16} << 30;
  };

  // One cache line a member, by which others wake it.
  struct alignas(64) Doorbell {
    std::atomic<std::uint32_t> rings;
    std::atomic<std::uint32_t> is_asleep;
  };

  static std::shared_ptr<Arena> create(const Options& options);
  // Nothing when the memory behind the proof cannot be reached from this process.
  static std::shared_ptr<Arena> open(const MemoryFile::Proof& proof);

  int members() const noexcept;
  MemoryKind kind() const noexcept { return MemoryKind::Host; }
  // Whether what a process wrote here can still be read after its death.
  bool outlives_writer() const noexcept { return true; }
  MemoryFile::Proof proof() const { return file_.proof(); }

  // At least `size` zeroed or reused bytes, aligned to a page, touched first by this thread.
  Piece allocate(int member, std::size_t size);

  // The common block of this key: made, zeroed, by whoever comes first; the same memory for all,
  // also for those who come when others have already left. Throws Mismatch when sizes differ,
  // Deadline when its maker does not finish.
  std::byte* find_or_make(std::uint64_t key, std::size_t size, int users, Deadline deadline);
  // One of its users has left: true for the last of all `users`, with whom the memory goes back.
  bool release(std::uint64_t key) noexcept;

  // A frozen process may still write here when it wakes: the pieces that hold any of this memory
  // are not allocated again when they are freed.
  void quarantine(const void* data, std::size_t size);

  bool contains(const void* data, std::size_t size) const noexcept;
  std::uint64_t offset_of(const void* data) const noexcept;
  std::byte* at(std::uint64_t offset) const noexcept { return file_.data() + offset; }
  Doorbell& doorbell(int member) const noexcept;

 private:
  friend class Piece;
  struct Header;
  struct Entry;

  explicit Arena(MemoryFile file);
  Header& header() const noexcept;
  std::size_t segment_begin(int member) const noexcept;
  void free(int member, std::byte* data, std::size_t size) noexcept;
  std::size_t take_common(std::size_t size);

  // Free ranges of one segment: offset -> size. Only ranges below `used` are listed.
  struct Segment {
    std::mutex mutex;
    std::map<std::size_t, std::size_t> holes;
    std::size_t used = 0;
    std::map<std::size_t, std::size_t> quarantined;
  };

  MemoryFile file_;
  std::vector<Segment> segments_;
};

}  // namespace trireme::comm
