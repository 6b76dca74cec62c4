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
// Members place the same data at the same offsets of their segments and access it side by side. A
// distance that is a multiple of 1 GiB would be the worst: some processors find a line in their
// first-level cache by a hash of the address, which is then the same for both members, so each
// access evicts the other's line (measured on Zen 4: 12 instead of 90 GB/s). This skew avoids such
// distances for every pair of 128 members.
constexpr std::size_t kSkew = 17 * kPage;
// Freed pieces of at least this size return their memory to the system; smaller ones
// keep it for reuse.
constexpr std::size_t kReturnSize = std::size_t{1} << 20;

std::size_t round_up(std::size_t size) {
  if (size > SIZE_MAX - kPage) {
    throw Error(ErrorCode::Exhausted, "no memory holds " + std::to_string(size) + " bytes");
  }
  return (size + kPage - 1) / kPage * kPage;
}

}  // namespace

struct Arena::Header {
  MemoryFile::Nonce nonce;
  std::uint64_t segment_size;
  std::uint32_t members;
  Doorbell doorbells[kMembersMax];
};

ArenaPiece& ArenaPiece::operator=(ArenaPiece&& other) noexcept {
  std::swap(arena_, other.arena_);
  std::swap(member_, other.member_);
  std::swap(data_, other.data_);
  std::swap(size_, other.size_);
  return *this;
}

ArenaPiece::~ArenaPiece() {
  if (arena_) arena_->free(member_, data_, size_);
}

Arena::Arena(MemoryFile file)
    : file_(std::move(file)),
      directory_(file_, {.table = sizeof(Header), .begin = head_size(), .size = kCommonSize}),
      segments_(static_cast<std::size_t>(header().members)) {}

Arena::Header& Arena::header() const noexcept {
  return *reinterpret_cast<Header*>(file_.data());
}

// The header, followed by the directory's table.
std::size_t Arena::head_size() noexcept {
  return round_up(sizeof(Header) + Directory::table_size());
}

std::shared_ptr<Arena> Arena::create(const Options& options) {
  TRIREME_CHECK(options.members >= 1 && options.members <= kMembersMax, "an arena for ",
                options.members, " members");
  const std::size_t segment = round_up(options.segment_size);
  const std::size_t head = head_size();
  MemoryFile file = MemoryFile::create(
      "arena", head + kCommonSize + (segment + kSkew) * static_cast<std::size_t>(options.members));
  file.reserve(0, head);
  auto& header = *reinterpret_cast<Header*>(file.data());
  header.segment_size = segment;
  header.members = static_cast<std::uint32_t>(options.members);
  Directory::initialize(file.data() + sizeof(Header));
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
  return head_size() + kCommonSize +
         (header().segment_size + kSkew) * static_cast<std::size_t>(member);
}

ArenaPiece Arena::allocate(int member, std::size_t size) {
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
  return ArenaPiece(shared_from_this(), member, at(offset), whole);
}

bool Arena::Segment::is_quarantined(std::size_t begin, std::size_t size) const {
  return std::any_of(quarantined.begin(), quarantined.end(), [&](const auto& entry) {
    return entry.first < begin + size && entry.first + entry.second.size > begin;
  });
}

void Arena::Segment::add_hole(std::size_t begin, std::size_t size) {
  auto hole = holes.emplace(begin, size).first;
  const auto next = std::next(hole);
  if (next != holes.end() && hole->first + hole->second == next->first) {
    hole->second += next->second;
    holes.erase(next);
  }
  if (hole == holes.begin()) return;
  const auto before = std::prev(hole);
  if (before->first + before->second == hole->first) {
    before->second += hole->second;
    holes.erase(hole);
  }
}

void Arena::free(int member, std::byte* data, std::size_t size) noexcept {
  Segment& segment = segments_[static_cast<std::size_t>(member)];
  std::lock_guard lock(segment.mutex);
  const std::size_t begin = offset_of(data) - segment_begin(member);
  if (segment.is_quarantined(begin, size)) {
    segment.held_back.emplace(begin, size);
  } else {
    give_back(member, begin, size);
  }
}

// REQUIRES: the caller holds the segment's mutex.
void Arena::give_back(int member, std::size_t begin, std::size_t size) noexcept {
  if (size >= kReturnSize) file_.release(segment_begin(member) + begin, size);
  segments_[static_cast<std::size_t>(member)].add_hole(begin, size);
}

void Arena::quarantine(const void* data, std::size_t size, std::uint64_t epoch) {
  if (!contains(data, size) || offset_of(data) < segment_begin(0)) return;
  const std::size_t offset = offset_of(data) - segment_begin(0);
  const std::size_t stride = header().segment_size + kSkew;
  Segment& segment = segments_[offset / stride];
  std::lock_guard lock(segment.mutex);
  const auto [found, is_new] = segment.quarantined.try_emplace(offset % stride, size, epoch);
  if (is_new) return;
  Quarantine& longest = found->second;
  longest.size = std::max(longest.size, size);
  longest.epoch = longest.epoch == 0 || epoch == 0 ? 0 : std::max(longest.epoch, epoch);
}

void Arena::end_quarantine(std::uint64_t epoch) {
  for (int member = 0; member < members(); ++member) {
    Segment& segment = segments_[static_cast<std::size_t>(member)];
    const std::lock_guard lock(segment.mutex);
    std::erase_if(segment.quarantined, [&](const auto& entry) {
      return entry.second.epoch != 0 && entry.second.epoch < epoch;
    });
    std::erase_if(segment.held_back, [&](const auto& piece) {
      if (segment.is_quarantined(piece.first, piece.second)) return false;
      give_back(member, piece.first, piece.second);
      return true;
    });
  }
}

std::byte* Arena::try_find_or_make(std::uint64_t key, std::size_t size, int users, bool reserves,
                                   std::uint64_t epoch) {
  const auto block = directory_.find_or_make(key, round_up(size), users, reserves, epoch);
  return block ? at(block->offset) : nullptr;
}

namespace {

// Repeats `ask` until it returns a result.
template <class Ask>
auto ask_until(Deadline deadline, Ask&& ask) {
  while (true) {
    if (auto answer = ask()) return answer;
    if (deadline.is_past()) {
      throw Error(ErrorCode::Deadline, "another process holds the arena's directory up");
    }
    ::sched_yield();
  }
}

}  // namespace

std::byte* Arena::find_or_make(std::uint64_t key, std::size_t size, int users, Deadline deadline,
                               std::uint64_t epoch) {
  return ask_until(deadline, [&] { return try_find_or_make(key, size, users, true, epoch); });
}

Directory::Usage Arena::usage(Deadline deadline) {
  return *ask_until(deadline, [&] { return directory_.usage(); });
}
Registration::~Registration() {
  if (arena_) arena_->release(key_);
}

Registration Arena::register_memory(std::uint64_t key, const void* data, std::size_t size,
                                    std::uint32_t note, Deadline deadline, std::uint64_t epoch) {
  TRIREME_CHECK(size != 0 && contains(data, size), "only memory of the arena can be registered");
  ask_until(deadline, [&] { return directory_.add(key, {offset_of(data), size, note, epoch}); });
  return Registration(shared_from_this(), key);
}

std::optional<Arena::Registered> Arena::find_memory(std::uint64_t key) {
  const auto block = directory_.find(key);
  if (!block) return std::nullopt;
  return Registered{at(block->offset), block->size, block->note};
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
