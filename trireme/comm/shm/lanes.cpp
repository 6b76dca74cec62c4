#include "trireme/comm/shm/lanes.h"

#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <climits>
#include <cstdio>

#include "trireme/comm/announcement.h"
#include "trireme/comm/shm/board.h"

namespace trireme::comm::shm {
namespace {

constexpr std::size_t kTextSize = 480;
constexpr std::uint64_t kDepartureGrace = 50'000'000;  // nanoseconds

enum FailureState : std::uint32_t { kNone = 0, kWriting = 1, kReady = 2 };

}  // namespace

struct Lanes::Header {
  std::atomic<std::uint32_t> failure_state;
  std::int32_t failure_reporter;
  std::int32_t failure_about;
  std::uint32_t failure_code;
  char failure_text[kTextSize];
};

struct alignas(4096) Lanes::Lane {
  BoardRow row;
  StrideWords strides;
  Word left;  // when it left normally; 0: it has not left
  Slot slots[kInFlight];
  Word mailbox;
  std::byte eager[kInFlight][kEagerSize];
};

struct alignas(4096) Lanes::Windows {
  std::byte staged[kWindows][kWindowSize];
  std::byte result[kWindows][kWindowSize];
};

Lanes::Lanes(std::shared_ptr<Arena> arena, std::vector<Member> members, int me, std::uint64_t key,
             Deadline deadline, std::uint64_t epoch)
    : arena_(std::move(arena)),
      members_(std::move(members)),
      me_(me),
      key_(key),
      epoch_(epoch),
      block_(arena_->find_or_make(key_, sizeof(Lane) * (members_.size() + 1), size(), deadline,
                                  epoch_)),
      exposure_(arena_, stride_words(), me_, epoch_),
      departed_(members_.size(), 0) {}

// A member that gave up does not announce a departure: the others receive its error or detect the
// cause themselves.
Lanes::~Lanes() {
  if (!exposure_.is_closed()) publish(lane(me_).left, now_ns());
  if (!arena_->release(key_)) return;
  arena_->release(mailbox_key());
  arena_->release(windows_key());
}

bool Lanes::open_windows() {
  if (windows_ != nullptr) return true;
  std::byte* all =
      arena_->try_find_or_make(windows_key(), members_.size() * sizeof(Windows), 1, false, epoch_);
  if (all == nullptr) return false;
  auto* windows = reinterpret_cast<Windows*>(all);
  arena_->reserve(reinterpret_cast<std::byte*>(windows + me_), sizeof(Windows));
  windows_ = windows;
  return true;
}

Word& Lanes::mailbox_word(int member) const noexcept {
  return lane(member).mailbox;
}

// The header occupies the space of one lane, in front of the others.
Lanes::Lane& Lanes::lane(int member) const noexcept {
  return reinterpret_cast<Lane*>(block_)[member + 1];
}

std::vector<StrideWords*> Lanes::stride_words() const {
  std::vector<StrideWords*> words;
  for (int m = 0; m < size(); ++m) words.push_back(&lane(m).strides);
  return words;
}

BoardRow& Lanes::row(int member) const noexcept {
  return lane(member).row;
}

Slot& Lanes::slot(int member, std::uint64_t sequence) const noexcept {
  return lane(member).slots[sequence % kInFlight];
}

std::byte* Lanes::eager(int member, std::uint64_t sequence) const noexcept {
  return lane(member).eager[sequence % kInFlight];
}

std::byte* Lanes::staged(int member, std::uint32_t round) const noexcept {
  return windows_[member].staged[round % kWindows];
}

std::byte* Lanes::result(int member, std::uint32_t round) const noexcept {
  return windows_[member].result[round % kWindows];
}

// Sequentially consistent on purpose: a sleeping member sets is_asleep and then reads the words;
// this member sets the word and then reads is_asleep. One of the two must see the other's write.
void Lanes::publish(Word& word, std::uint64_t value) const noexcept {
  word.store(value, std::memory_order_seq_cst);
  ring();
}

void Lanes::ring() const noexcept {
  for (int m = 0; m < size(); ++m) {
    if (m == me_) continue;
    Arena::Doorbell& bell = arena_->doorbell(members_[static_cast<std::size_t>(m)].arena_member);
    if (bell.is_asleep.load(std::memory_order_seq_cst) == 0) continue;
    bell.rings.fetch_add(1, std::memory_order_seq_cst);
    ::syscall(SYS_futex, &bell.rings, FUTEX_WAKE, INT_MAX, nullptr, nullptr, 0);
  }
}

std::uint32_t Lanes::least(Word Slot::* stage, std::uint64_t sequence) const noexcept {
  std::uint32_t smallest = UINT32_MAX;
  for (int m = 0; m < size(); ++m) {
    const std::uint64_t word = (slot(m, sequence).*stage).load(std::memory_order_seq_cst);
    const std::uint64_t floor = stage_word(sequence, 0);
    if (word <= floor) return 0;
    const std::uint64_t steps = std::min<std::uint64_t>(word - floor, UINT32_MAX);
    smallest = std::min(smallest, static_cast<std::uint32_t>(steps));
  }
  return smallest;
}

bool Lanes::everyone(Word Slot::* stage, std::uint64_t sequence,
                     std::uint32_t steps) const noexcept {
  const std::uint64_t wanted = stage_word(sequence, steps);
  for (int m = 0; m < size(); ++m) {
    if ((slot(m, sequence).*stage).load(std::memory_order_seq_cst) < wanted) return false;
  }
  return true;
}

// Claims of the slot's previous operation are smaller than all claims of this one.
std::optional<std::size_t> Lanes::claim(int member, std::uint64_t sequence,
                                        std::size_t strides) const noexcept {
  Word& word = slot(member, sequence).claimed;
  const std::uint64_t floor = stage_word(sequence, 0);
  std::uint64_t before = word.load(std::memory_order_relaxed);
  for (;;) {
    const std::uint64_t taken = before > floor ? before - floor : 0;
    if (taken >= strides || (taken == 0 && member != me_)) return std::nullopt;
    if (word.compare_exchange_weak(before, floor + taken + 1, std::memory_order_relaxed)) {
      return static_cast<std::size_t>(taken);
    }
  }
}

bool Lanes::has_left(int member) const noexcept {
  std::uint64_t since = lane(member).left.load(std::memory_order_seq_cst);
  if (since == 0) since = departed_[static_cast<std::size_t>(member)];
  return since != 0 && now_ns() >= since + kDepartureGrace;
}

void Lanes::note_departure(int rank) noexcept {
  for (std::size_t m = 0; m < members_.size(); ++m) {
    if (members_[m].job_rank == rank && departed_[m] == 0) departed_[m] = now_ns();
  }
}

bool Lanes::has_finished(int member, std::uint64_t sequence) const noexcept {
  return slot(member, sequence).finished.load(std::memory_order_seq_cst) >= stage_word(sequence, 1);
}

Error Lanes::departure_of(int member) const {
  return Error(ErrorCode::PeerLost,
               "rank " + std::to_string(job_rank(member)) + " left while it was waited for")
      .with_peer(job_rank(member))
      .with_rank(job_rank(me_));
}

std::optional<Error> Lanes::failure() const {
  const auto& header = *reinterpret_cast<const Header*>(block_);
  if (header.failure_state.load(std::memory_order_acquire) != kReady) return std::nullopt;
  const Announcement heard{static_cast<ErrorCode>(header.failure_code), header.failure_reporter,
                           header.failure_about, header.failure_text};
  return heard.to_error().with_rank(job_rank(me_));
}

void Lanes::announce(const Error& error) const noexcept {
  auto& header = *reinterpret_cast<Header*>(block_);
  std::uint32_t none = kNone;
  if (!header.failure_state.compare_exchange_strong(none, kWriting)) return;
  const Announcement said = Announcement::of(error, job_rank(me_));
  header.failure_reporter = said.reporter;
  header.failure_about = said.about;
  header.failure_code = static_cast<std::uint32_t>(said.code);
  std::snprintf(header.failure_text, kTextSize, "%s", said.text.c_str());
  header.failure_state.store(kReady, std::memory_order_release);
  // Wakes all members; writing any word does that.
  publish(lane(me_).row.since, now_ns());
}

}  // namespace trireme::comm::shm
