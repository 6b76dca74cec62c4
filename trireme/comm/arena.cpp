#include "trireme/comm/arena.h"

#include <sched.h>

#include <algorithm>
#include <iterator>
#include <string>
#include <utility>

#include "trireme/base/check.h"
#include "trireme/base/error.h"

namespace trireme::comm {
namespace {

constexpr std::size_t kPage = 4096;
// Address space only.
constexpr std::size_t kCommonSize = std::size_t{64} << 30;
// Where all_to_all announces its blocks, a lane has room for one a member.
constexpr std::uint32_t kMembersMax = 128;
constexpr std::size_t kEntries = 8192;
// A used-up entry is never claimed again: two members that look for one key at the same time could
// otherwise settle in different places.
constexpr std::uint64_t kSpent = 1;
// In place of an offset: whoever claimed the entry found no memory for it.
constexpr std::uint64_t kFailed = 1;
// Freed pieces of at least this size give their memory back; smaller ones keep it for reuse.
constexpr std::size_t kReturnSize = std::size_t{1} << 20;

std::size_t round_up(std::size_t size) {
  if (size > SIZE_MAX - kPage) {
    throw Error(ErrorCode::Exhausted, "no memory holds " + std::to_string(size) + " bytes");
  }
  return (size + kPage - 1) / kPage * kPage;
}

}  // namespace

struct Arena::Entry {
  std::atomic<std::uint64_t> key;     // 0: free; kSpent: used up
  std::atomic<std::uint64_t> offset;  // 0: not ready yet
  std::atomic<std::uint64_t> size;
  std::atomic<std::int64_t> users;  // that have not left, whether they came yet or not
};

struct Arena::Header {
  MemoryFile::Nonce nonce;
  std::uint64_t segment_size;
  std::uint32_t members;
  std::atomic<std::uint64_t> common_used;
  Doorbell doorbells[kMembersMax];
  Entry entries[kEntries];
};

Piece& Piece::operator=(Piece&& other) noexcept {
  std::swap(arena_, other.arena_);
  std::swap(member_, other.member_);
  std::swap(data_, other.data_);
  std::swap(size_, other.size_);
  return *this;
}

Piece::~Piece() {
  if (arena_) arena_->free(member_, data_, size_);
}

Arena::Arena(MemoryFile file)
    : file_(std::move(file)), segments_(static_cast<std::size_t>(header().members)) {}

Arena::Header& Arena::header() const noexcept {
  return *reinterpret_cast<Header*>(file_.data());
}

std::shared_ptr<Arena> Arena::create(const Options& options) {
  TRIREME_CHECK(options.members >= 1 && options.members <= static_cast<int>(kMembersMax),
                "an arena for ", options.members, " members");
  const std::size_t segment = round_up(options.segment_size);
  const std::size_t head = round_up(sizeof(Header));
  MemoryFile file = MemoryFile::create(
      "arena", head + kCommonSize + segment * static_cast<std::size_t>(options.members));
  file.reserve(0, head);
  auto& header = *reinterpret_cast<Header*>(file.data());
  header.segment_size = segment;
  header.members = static_cast<std::uint32_t>(options.members);
  return std::shared_ptr<Arena>(new Arena(std::move(file)));
}

std::shared_ptr<Arena> Arena::open(const MemoryFile::Proof& proof) {
  std::optional<MemoryFile> file = MemoryFile::open(proof);
  if (!file) return nullptr;
  return std::shared_ptr<Arena>(new Arena(std::move(*file)));
}

int Arena::members() const noexcept {
  return static_cast<int>(header().members);
}

Arena::Doorbell& Arena::doorbell(int member) const noexcept {
  return header().doorbells[member];
}

std::size_t Arena::segment_begin(int member) const noexcept {
  return round_up(sizeof(Header)) + kCommonSize +
         header().segment_size * static_cast<std::size_t>(member);
}

Piece Arena::allocate(int member, std::size_t size) {
  TRIREME_CHECK(member >= 0 && member < members(), "member ", member, " of ", members());
  const std::size_t whole = round_up(std::max<std::size_t>(size, 1));
  Segment& segment = segments_[static_cast<std::size_t>(member)];
  std::lock_guard lock(segment.mutex);
  const auto hole = std::find_if(segment.holes.begin(), segment.holes.end(),
                                 [&](const auto& found) { return found.second >= whole; });
  const bool is_new = hole == segment.holes.end();
  if (is_new && whole > header().segment_size - segment.used) {
    throw Error(ErrorCode::Exhausted, "the arena's segment of " +
                                          std::to_string(header().segment_size) +
                                          " bytes has no room for " + std::to_string(size));
  }
  const std::size_t begin = is_new ? segment.used : hole->first;
  const std::size_t offset = segment_begin(member) + begin;
  file_.reserve(offset, whole);
  if (is_new) {
    segment.used += whole;
  } else {
    const std::size_t rest = hole->second - whole;
    segment.holes.erase(hole);
    if (rest != 0) segment.holes.emplace(begin + whole, rest);
  }
  return Piece(shared_from_this(), member, at(offset), whole);
}

void Arena::free(int member, std::byte* data, std::size_t size) noexcept {
  Segment& segment = segments_[static_cast<std::size_t>(member)];
  std::lock_guard lock(segment.mutex);
  const std::size_t end = offset_of(data) - segment_begin(member) + size;
  for (const auto& [first, length] : segment.quarantined) {
    if (first < end && first + length > end - size) return;
  }
  if (size >= kReturnSize) file_.release(offset_of(data), size);
  const std::size_t begin = offset_of(data) - segment_begin(member);
  auto hole = segment.holes.emplace(begin, size).first;
  const auto next = std::next(hole);
  if (next != segment.holes.end() && hole->first + hole->second == next->first) {
    hole->second += next->second;
    segment.holes.erase(next);
  }
  if (hole == segment.holes.begin()) return;
  const auto before = std::prev(hole);
  if (before->first + before->second == hole->first) {
    before->second += hole->second;
    segment.holes.erase(hole);
  }
}

void Arena::quarantine(const void* data, std::size_t size) {
  if (!contains(data, size) || offset_of(data) < segment_begin(0)) return;
  const std::size_t offset = offset_of(data) - segment_begin(0);
  Segment& segment = segments_[offset / header().segment_size];
  std::lock_guard lock(segment.mutex);
  std::size_t& length = segment.quarantined[offset % header().segment_size];
  length = std::max(length, size);
}

// Memory of the common part; never given to anyone else.
std::size_t Arena::take_common(std::size_t size) {
  std::uint64_t begin = header().common_used.load();
  do {
    if (size > kCommonSize - begin) {
      throw Error(ErrorCode::Exhausted,
                  "the arena's common part has no room for " + std::to_string(size) + " bytes");
    }
  } while (!header().common_used.compare_exchange_weak(begin, begin + size));
  const std::size_t offset = round_up(sizeof(Header)) + begin;
  file_.reserve(offset, size);
  return offset;
}

std::byte* Arena::find_or_make(std::uint64_t key, std::size_t size, int users, Deadline deadline) {
  TRIREME_CHECK(key > kSpent, "keys 0 and 1 are taken");
  const std::size_t whole = round_up(size);
  for (std::size_t probe = 0; probe < kEntries; ++probe) {
    Entry& entry = header().entries[(key + probe) % kEntries];
    std::uint64_t found = 0;
    if (entry.key.compare_exchange_strong(found, key)) {
      std::size_t offset = 0;
      try {
        offset = take_common(whole);
      } catch (...) {
        entry.offset.store(kFailed);
        throw;
      }
      entry.size = whole;
      entry.users = users;
      entry.offset.store(offset, std::memory_order_release);
      return at(offset);
    }
    if (found != key) continue;
    std::uint64_t offset = 0;
    while ((offset = entry.offset.load(std::memory_order_acquire)) == 0) {
      if (deadline.is_past()) throw Error(ErrorCode::Deadline, "a shared block was never made");
      ::sched_yield();
    }
    if (offset == kFailed) {
      throw Error(ErrorCode::Exhausted, "a shared block found no memory on another rank");
    }
    if (entry.size != whole) {
      throw Error(ErrorCode::Mismatch, "a shared block of " + std::to_string(entry.size) +
                                           " bytes was asked for as " + std::to_string(whole));
    }
    return at(offset);
  }
  throw Error(ErrorCode::Exhausted, "the arena's directory is full");
}

bool Arena::release(std::uint64_t key) noexcept {
  for (std::size_t probe = 0; probe < kEntries; ++probe) {
    Entry& entry = header().entries[(key + probe) % kEntries];
    const std::uint64_t found = entry.key.load();
    if (found == 0) break;
    if (found != key) continue;
    if (entry.users.fetch_sub(1) != 1) return false;
    file_.release(entry.offset.load(), entry.size.load());
    entry.key.store(kSpent);
    return true;
  }
  return false;
}

bool Arena::contains(const void* data, std::size_t size) const noexcept {
  const auto* begin = static_cast<const std::byte*>(data);
  return begin >= file_.data() && size <= file_.size() &&
         begin <= file_.data() + (file_.size() - size);
}

std::uint64_t Arena::offset_of(const void* data) const noexcept {
  return static_cast<std::uint64_t>(static_cast<const std::byte*>(data) - file_.data());
}

}  // namespace trireme::comm
