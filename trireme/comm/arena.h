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
#include <utility>
#include <vector>

#include "trireme/base/deadline.h"
#include "trireme/base/memory_file.h"
#include "trireme/comm/directory.h"

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

// Memory of an arena that its other members can find by key; no longer when destroyed.
class [[nodiscard]] Registration {
 public:
  Registration() = default;
  Registration(std::shared_ptr<Arena> arena, std::uint64_t key)
      : arena_(std::move(arena)), key_(key) {}
  Registration(Registration&& other) noexcept { *this = std::move(other); }
  Registration& operator=(Registration&& other) noexcept {
    std::swap(arena_, other.arena_);
    std::swap(key_, other.key_);
    return *this;
  }
  ~Registration();

 private:
  std::shared_ptr<Arena> arena_;
  std::uint64_t key_ = 0;
};

class Arena : public std::enable_shared_from_this<Arena> {
 public:
  // Where all_to_all announces its blocks, a lane has room for one a member.
  static constexpr int kMembersMax = 128;

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
  // Exhausted, and Deadline when another process holds the directory up.
  std::byte* find_or_make(std::uint64_t key, std::size_t size, int users, Deadline deadline);
  // The same without waiting: null while another process is at the directory. Without `reserves`
  // only addresses are taken, and each user reserves what it is going to touch.
  std::byte* try_find_or_make(std::uint64_t key, std::size_t size, int users, bool reserves = true);
  // One of its users has left: true for the last of all `users`, with whom the memory goes back.
  bool release(std::uint64_t key) noexcept;
  // The block goes, whoever has not released it. REQUIRES: those are dead.
  bool drop(std::uint64_t key) noexcept;
  // Takes the memory behind these addresses of a common block now, from this thread's node.
  void reserve(const std::byte* data, std::size_t size) { file_.reserve(offset_of(data), size); }
  // How much of the common part is in use.
  Directory::Usage usage(Deadline deadline);

  // Makes memory of this arena known to all its members under a key, with a note of the caller's,
  // until the Registration ends. The memory must outlive it. Throws Misuse if it is not of this
  // arena or the key is taken, Deadline when another process holds the directory up.
  Registration register_memory(std::uint64_t key, const void* data, std::size_t size,
                               std::uint32_t note, Deadline deadline);
  struct Registered {
    std::byte* data = nullptr;
    std::size_t size = 0;
    std::uint32_t note = 0;
  };
  // What a member registered under this key; nothing if none has, or cannot be asked just now.
  std::optional<Registered> find_memory(std::uint64_t key);

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

  explicit Arena(MemoryFile file);
  Header& header() const noexcept;
  static std::size_t head_size() noexcept;
  std::size_t segment_begin(int member) const noexcept;
  void free(int member, std::byte* data, std::size_t size) noexcept;

  // Free ranges of one segment: offset -> size. Only ranges below `used` are listed.
  struct Segment {
    std::mutex mutex;
    std::map<std::size_t, std::size_t> holes;
    std::size_t used = 0;
    std::map<std::size_t, std::size_t> quarantined;
  };

  MemoryFile file_;
  Directory directory_;
  std::vector<Segment> segments_;
};

}  // namespace trireme::comm
