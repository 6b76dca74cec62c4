#include "trireme/comm/directory.h"

#include <pthread.h>
#include <sched.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <string>
#include <utility>
#include <vector>

#include "trireme/base/check.h"
#include "trireme/base/deadline.h"
#include "trireme/base/error.h"

namespace trireme::comm {
namespace {

constexpr std::size_t kEntries = 8192;
// For functions that release and cannot report a failure.
constexpr Duration kReleaseMax = std::chrono::seconds(1);

}  // namespace

struct Directory::Entry {
  std::uint64_t key;  // 0: free
  std::uint64_t offset;
  std::uint64_t size;
  std::int32_t users;  // users that have not left, including those that have not used the block yet
  std::uint32_t note;
  std::uint64_t epoch;
};

struct Directory::Table {
  pthread_mutex_t mutex;
  std::uint64_t used;  // entries from this index on were never in use
  Entry entries[kEntries];
};

// Holds the table's lock if it can be acquired at once.
class Directory::Lock {
 public:
  explicit Lock(const Directory& directory) : mutex_(directory.table().mutex) {
    const int answer = ::pthread_mutex_trylock(&mutex_);
    is_held_ = answer == 0 || answer == EOWNERDEAD;
    if (answer != EOWNERDEAD) return;
    ::pthread_mutex_consistent(&mutex_);
    directory.sweep();
  }
  ~Lock() {
    if (is_held_) ::pthread_mutex_unlock(&mutex_);
  }
  Lock(const Lock&) = delete;
  Lock& operator=(const Lock&) = delete;
  explicit operator bool() const noexcept { return is_held_; }

 private:
  pthread_mutex_t& mutex_;
  bool is_held_ = false;
};

std::size_t Directory::table_size() noexcept {
  return sizeof(Table);
}

void Directory::initialize(void* table) {
  pthread_mutexattr_t attributes;
  ::pthread_mutexattr_init(&attributes);
  ::pthread_mutexattr_setpshared(&attributes, PTHREAD_PROCESS_SHARED);
  ::pthread_mutexattr_setrobust(&attributes, PTHREAD_MUTEX_ROBUST);
  ::pthread_mutex_init(&static_cast<Table*>(table)->mutex, &attributes);
  ::pthread_mutexattr_destroy(&attributes);
}

Directory::Table& Directory::table() const noexcept {
  return *reinterpret_cast<Table*>(file_.data() + place_.table);
}

Directory::Entry* Directory::entry_of(std::uint64_t key) const noexcept {
  for (std::size_t i = 0; i < table().used; ++i) {
    if (table().entries[i].key == key) return &table().entries[i];
  }
  return nullptr;
}

Directory::Entry& Directory::free_entry() const {
  if (Entry* unused = entry_of(0)) return *unused;
  if (table().used == kEntries) {
    throw Error(ErrorCode::Exhausted,
                "the arena's directory is full: " + std::to_string(kEntries) + " blocks");
  }
  return table().entries[table().used++];
}

bool Directory::is_common(const Entry& entry) const noexcept {
  return entry.key != 0 && entry.offset >= place_.begin &&
         entry.offset < place_.begin + place_.size;
}

// Finds the first sufficiently large gap between the blocks.
std::size_t Directory::find_room(std::size_t size) const {
  std::vector<std::pair<std::size_t, std::size_t>> taken;
  for (std::size_t i = 0; i < table().used; ++i) {
    const Entry& entry = table().entries[i];
    if (is_common(entry)) taken.emplace_back(entry.offset, entry.size);
  }
  std::sort(taken.begin(), taken.end());
  std::size_t begin = place_.begin;
  for (const auto& [offset, length] : taken) {
    if (offset - begin >= size) return begin;
    begin = offset + length;
  }
  if (size > place_.begin + place_.size - begin) {
    throw Error(ErrorCode::Exhausted,
                "the arena's common part has no room for " + std::to_string(size) + " bytes");
  }
  return begin;
}

// A process died while it held the lock: completes the releases that it had begun. A block that it
// was about to create has no entry yet.
void Directory::sweep() const noexcept {
  for (std::size_t i = 0; i < table().used; ++i) {
    Entry& entry = table().entries[i];
    if (entry.key != 0 && entry.users <= 0) clear(entry);
  }
}

void Directory::clear(Entry& entry) const noexcept {
  if (is_common(entry)) file_.release(entry.offset, entry.size);
  entry.key = 0;
}

std::optional<Directory::Block> Directory::find_or_make(std::uint64_t key, std::size_t size,
                                                        int users, bool reserves,
                                                        std::uint64_t epoch) {
  TRIREME_CHECK(key != 0, "key 0 is taken");
  const Lock lock(*this);
  if (!lock) return std::nullopt;
  if (const Entry* found = entry_of(key)) {
    if (found->size != size) {
      throw Error(ErrorCode::Mismatch, "a shared block of " + std::to_string(found->size) +
                                           " bytes was asked for as " + std::to_string(size));
    }
    return Block{found->offset, found->size, found->note, found->epoch};
  }
  const std::size_t offset = find_room(size);
  Entry& entry = free_entry();
  if (reserves) file_.reserve(offset, size);
  entry.offset = offset;
  entry.size = size;
  entry.users = users;
  entry.note = 0;
  entry.epoch = epoch;
  entry.key = key;
  return Block{offset, size, 0, epoch};
}

bool Directory::add(std::uint64_t key, const Block& block) {
  TRIREME_CHECK(key != 0, "key 0 is taken");
  const Lock lock(*this);
  if (!lock) return false;
  TRIREME_CHECK(entry_of(key) == nullptr, "this memory, or other of its name, is known already");
  Entry& entry = free_entry();
  entry.offset = block.offset;
  entry.size = block.size;
  entry.users = 1;
  entry.note = block.note;
  entry.epoch = block.epoch;
  entry.key = key;
  return true;
}

std::optional<Directory::Block> Directory::find(std::uint64_t key) {
  const Lock lock(*this);
  const Entry* found = lock ? entry_of(key) : nullptr;
  if (found == nullptr) return std::nullopt;
  return Block{found->offset, found->size, found->note, found->epoch};
}

// Waits briefly for the lock. Returns false if it could not be acquired.
template <class Change>
bool Directory::change(Change&& change) noexcept {
  const Deadline bound = Deadline::after(kReleaseMax);
  do {
    if (const Lock lock(*this); lock) {
      change();
      return true;
    }
    ::sched_yield();
  } while (!bound.is_past());
  return false;
}

bool Directory::release(std::uint64_t key) noexcept {
  bool is_last = false;
  change([&] {
    Entry* found = entry_of(key);
    is_last = found != nullptr && --found->users <= 0;
    if (is_last) clear(*found);
  });
  return is_last;
}

void Directory::forget(std::uint64_t epoch) noexcept {
  change([&] {
    for (std::size_t i = 0; i < table().used; ++i) {
      Entry& entry = table().entries[i];
      if (entry.key != 0 && entry.epoch != 0 && entry.epoch < epoch) clear(entry);
    }
  });
}

std::optional<Directory::Usage> Directory::usage() {
  const Lock lock(*this);
  if (!lock) return std::nullopt;
  Usage usage;
  for (std::size_t i = 0; i < table().used; ++i) {
    const Entry& entry = table().entries[i];
    if (entry.key == 0) continue;
    ++usage.entries;
    if (is_common(entry)) usage.bytes += entry.size;
  }
  return usage;
}

}  // namespace trireme::comm
