// Arena is memory that all ranks of one host share. Each rank reads and writes it in place, without
// a copy.
//
// The arena belongs to the job on this host, not to a group or a process: data that a rank wrote
// stays readable after that rank has died, as long as one process keeps the arena open. The memory
// has no name in the file system, so no files remain after the job.
//
// Layout:        a header (doorbells, directory), a common part for blocks that ranks create
//                together and find by key, and one segment per member, in which only that member
//                allocates. The address space is laid out once; memory is reserved when it is
//                allocated.
// Errors:        if memory is short, allocate() fails with ErrorCode::Exhausted; a later access
//                never raises SIGBUS.
// Thread safety: any thread may allocate and free. Callers synchronize access to the bytes.

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
#include "trireme/base/file/memory_file.h"
#include "trireme/comm/directory.h"

namespace trireme::comm {

class Arena;

// A piece of an arena. Its destructor frees the memory.
class ArenaPiece {
 public:
  ArenaPiece() = default;
  ArenaPiece(std::shared_ptr<Arena> arena, int member, std::byte* data, std::size_t size)
      : arena_(std::move(arena)), member_(member), data_(data), size_(size) {}
  ArenaPiece(ArenaPiece&& other) noexcept { *this = std::move(other); }
  ArenaPiece& operator=(ArenaPiece&& other) noexcept;
  ~ArenaPiece();

  std::byte* data() const noexcept { return data_; }
  std::size_t size() const noexcept { return size_; }

 private:
  std::shared_ptr<Arena> arena_;
  int member_ = 0;
  std::byte* data_ = nullptr;
  std::size_t size_ = 0;
};

// An entry by which other members find memory of the arena by key. Its destructor removes the
// entry.
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
  // A lane has room for one all_to_all block announcement per member, which limits the member
  // count.
  static constexpr int kMembersMax = 128;

  struct Options {
    int members = 1;
    // Address space per member; memory is reserved only when it is used.
    std::size_t segment_size = std::size_t{16} << 30;
  };

  // One cache line per member, through which other members wake it.
  struct alignas(64) Doorbell {
    std::atomic<std::uint32_t> rings;
    std::atomic<std::uint32_t> is_asleep;
  };

  static std::shared_ptr<Arena> create(const Options& options);
  // Returns nullptr if this process cannot access the memory that the proof refers to.
  static std::shared_ptr<Arena> open(const MemoryFile::Proof& proof);

  int members() const noexcept;
  MemoryFile::Proof proof() const { return file_.proof(); }

  // Returns at least `size` bytes, zeroed or reused, aligned to a page and first touched by this
  // thread.
  ArenaPiece allocate(int member, std::size_t size);

  // Returns the common block of this key. The first caller creates it, zeroed; all callers get the
  // same memory, including those that call when others have already released it. If `epoch` is not
  // 0, the block belongs to that epoch: see forget().
  // Errors: throws Mismatch if sizes differ, Exhausted, and Deadline if another process holds the
  // directory's lock for too long.
  std::byte* find_or_make(std::uint64_t key, std::size_t size, int users, Deadline deadline,
                          std::uint64_t epoch = 0);
  // The same without waiting: returns null while another process holds the directory's lock.
  // Without `reserves`, only addresses are assigned and each user reserves the parts that it will
  // access.
  std::byte* try_find_or_make(std::uint64_t key, std::size_t size, int users, bool reserves = true,
                              std::uint64_t epoch = 0);
  // One user has left. Returns true for the last of all `users`; the memory is then freed.
  bool release(std::uint64_t key) noexcept { return directory_.release(key); }
  // Frees the common blocks and registrations of earlier epochs that dead members never released.
  // Called by one process per host. REQUIRES: no live process uses any of them.
  void forget(std::uint64_t epoch) noexcept { directory_.forget(epoch); }
  // Reserves the memory behind these addresses of a common block now, on this thread's NUMA node.
  void reserve(const std::byte* data, std::size_t size) { file_.reserve(offset_of(data), size); }
  // How much of the common part is in use.
  Directory::Usage usage(Deadline deadline);

  // Makes memory of this arena available to all members under a key, with a note chosen by the
  // caller, until the Registration ends.
  // Lifetime: the memory must outlive the Registration.
  // Errors: throws Misuse if the memory is not in this arena or the key is already used, and
  // Deadline if another process holds the directory's lock for too long.
  Registration register_memory(std::uint64_t key, const void* data, std::size_t size,
                               std::uint32_t note, Deadline deadline, std::uint64_t epoch = 0);
  struct Registered {
    std::byte* data = nullptr;
    std::size_t size = 0;
    std::uint32_t note = 0;
  };
  // The memory that a member registered under this key. Empty if there is none, or if the directory
  // is locked at the moment.
  std::optional<Registered> find_memory(std::uint64_t key);

  // A frozen process may still write to this memory when it continues. Pieces that overlap it are
  // not reused after they are freed until end_quarantine() is called with a later epoch.
  void quarantine(const void* data, std::size_t size, std::uint64_t epoch = 0);
  // Ends the quarantines of earlier epochs. REQUIRES: every process that could have written to that
  // memory is known to be dead or has no group of those epochs any more.
  void end_quarantine(std::uint64_t epoch);

  bool contains(const void* data, std::size_t size) const noexcept;
  std::uint64_t offset_of(const void* data) const noexcept;
  std::byte* at(std::uint64_t offset) const noexcept { return file_.data() + offset; }
  Doorbell& doorbell(int member) const noexcept;

 private:
  friend class ArenaPiece;
  struct Header;

  explicit Arena(MemoryFile file);
  Header& header() const noexcept;
  static std::size_t head_size() noexcept;
  std::size_t segment_begin(int member) const noexcept;
  void free(int member, std::byte* data, std::size_t size) noexcept;

  struct Quarantine {
    std::size_t size = 0;
    std::uint64_t epoch = 0;  // 0: the quarantine never ends
  };
  // Ranges of one segment: offset -> size. Only free ranges below `used` are listed.
  struct Segment {
    std::mutex mutex;
    std::map<std::size_t, std::size_t> holes;
    std::size_t used = 0;
    std::map<std::size_t, Quarantine> quarantined;
    std::map<std::size_t, std::size_t> held_back;  // freed while quarantined

    bool is_quarantined(std::size_t begin, std::size_t size) const;
    void add_hole(std::size_t begin, std::size_t size);
  };
  void give_back(int member, std::size_t begin, std::size_t size) noexcept;

  MemoryFile file_;
  Directory directory_;
  std::vector<Segment> segments_;
};

}  // namespace trireme::comm
