#include "trireme/comm/shm/lanes.h"

#include <linux/futex.h>
#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <climits>
#include <cstdio>
#include <cstring>

#include "trireme/base/clock.h"
#include "trireme/cluster/rank_names.h"
#include "trireme/comm/announcement.h"
#include "trireme/comm/spin.h"

namespace trireme::comm::shm {
namespace {

constexpr std::size_t kTextSize = 480;
// A stride takes about a millisecond; if members share cores, the member inside it may have been
// descheduled.
constexpr Duration kQuietMax = std::chrono::milliseconds(5);
constexpr Duration kQuietMaxCrowded = std::chrono::milliseconds(20);

constexpr std::uint64_t kDepartureGrace = 50'000'000;  // nanoseconds

enum FailureState : std::uint32_t { kNone = 0, kWriting = 1, kReady = 2 };

std::uint64_t now_ns() {
  return static_cast<std::uint64_t>(steady_clock().now().time_since_epoch().count());
}

std::string seconds_text(std::uint64_t nanoseconds) {
  char text[32];
  std::snprintf(text, sizeof(text), "%.1f s", static_cast<double>(nanoseconds) * 1e-9);
  return text;
}

// The operation that the user called, if this is a part of it.
OpKind called_kind(const Request& request) {
  return request.part_of == OpKind::None ? request.kind : request.part_of;
}

}  // namespace

struct Lanes::Header {
  std::atomic<std::uint32_t> failure_state;
  std::int32_t failure_speaker;
  std::int32_t failure_about;
  std::uint32_t failure_code;
  char failure_text[kTextSize];
};

struct alignas(4096) Lanes::Lane {
  BoardRow row;
  alignas(64) Word busy;    // inside a stride
  alignas(64) Word closed;  // has given up
  Word left;                // when it left normally; 0: it has not left
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
      departed_(members_.size(), 0) {
  const std::size_t size = sizeof(Lane) * (members_.size() + 1);
  block_ = arena_->find_or_make(key_, size, this->size(), deadline, epoch_);
}

// A member that gave up does not announce a departure: the others receive its error or detect the
// cause themselves.
Lanes::~Lanes() {
  if (!is_closed_) publish(lane(me_).left, now_ns());
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

void Lanes::expose(const void* data, std::size_t size) {
  exposed_.emplace(data, size);
}

void Lanes::cover(const void* data) noexcept {
  const auto found = exposed_.find(data);
  if (found != exposed_.end()) exposed_.erase(found);
}

bool Lanes::has_closed(int member) const noexcept {
  return lane(member).closed.load(std::memory_order_seq_cst) != 0;
}

// A member that enters a stride publishes this before it checks whether any member has closed; a
// member that closes publishes this before it checks whether any member is in a stride. One of the
// two sees the other.
bool Lanes::begin_stride() const noexcept {
  lane(me_).busy.store(1, std::memory_order_seq_cst);
  if (!anyone_closed()) return true;
  end_stride();
  return false;
}

void Lanes::end_stride() const noexcept {
  lane(me_).busy.store(0, std::memory_order_seq_cst);
}

bool Lanes::anyone_closed() const noexcept {
  for (int m = 0; m < size(); ++m) {
    if (has_closed(m)) return true;
  }
  return false;
}

bool Lanes::is_quiet() const noexcept {
  for (int m = 0; m < size(); ++m) {
    if (m != me_ && lane(m).busy.load(std::memory_order_seq_cst) != 0) return false;
  }
  return true;
}

void Lanes::close() noexcept {
  if (is_closed_) return;
  is_closed_ = true;
  lane(me_).closed.store(1, std::memory_order_seq_cst);
  const Deadline bound = Deadline::after(is_crowded(size()) ? kQuietMaxCrowded : kQuietMax);
  while (!exposed_.empty() && !is_quiet()) {
    if (bound.is_past()) {
      for (const auto& [data, size] : exposed_) arena_->quarantine(data, size, epoch_);
      break;
    }
    ::sched_yield();
  }
  exposed_.clear();
}

void Lanes::note(const Operation& op, Phase phase) const noexcept {
  BoardRow& row = lane(me_).row;
  constexpr auto relaxed = std::memory_order_relaxed;
  // Writes the whole row every time: with several operations in flight, the one that finishes is
  // not always the one that entered last.
  char text[sizeof(row.label)] = {};
  std::memcpy(text, op.label.data(), std::min(op.label.size(), sizeof(text) - 1));
  for (std::size_t i = 0; i < row.label.size(); ++i) {
    std::uint64_t word;
    std::memcpy(&word, text + 8 * i, 8);
    row.label[i].store(word, relaxed);
  }
  row.kind.store(static_cast<std::uint32_t>(called_kind(op.request)), relaxed);
  row.sequence.store(op.sequence, relaxed);
  row.phase.store(static_cast<std::uint32_t>(phase), relaxed);
  row.since.store(now_ns(), relaxed);
}

std::string Lanes::describe_row(int member) const {
  const BoardRow& row = lane(member).row;
  const auto phase = static_cast<Phase>(row.phase.load());
  if (phase == Phase::Outside) return "it has not begun any operation of this group";
  char label[sizeof(row.label)];
  for (std::size_t i = 0; i < row.label.size(); ++i) {
    const std::uint64_t word = row.label[i].load();
    std::memcpy(label + 8 * i, &word, 8);
  }
  label[sizeof(label) - 1] = '\0';
  std::string text = "it is inside ";
  if (phase == Phase::Moving) text = "it moves data in ";
  if (phase == Phase::Finished) text = "it finished ";
  text += name_of(static_cast<OpKind>(row.kind.load()));
  // Sends and receives have no sequence number.
  if (row.sequence.load() != 0) text += " #" + std::to_string(row.sequence.load());
  if (label[0] != '\0') text += " (" + std::string(label) + ")";
  const std::uint64_t since = row.since.load();
  const std::uint64_t now = now_ns();
  const std::string elapsed = seconds_text(now > since ? now - since : 0);
  return phase == Phase::Finished ? text + " " + elapsed + " ago" : text + " since " + elapsed;
}

// An ordered sum has two sequence numbers, one per exchange. A missing rank is missing in the first
// exchange that this rank has not finished.
std::uint64_t Lanes::awaited_in(const Operation& op) const {
  const bool has_two = op.request.kind == OpKind::OrderedSum;
  const bool is_second =
      has_two && slot(me_, op.sequence).finished.load() >= stage_word(op.sequence, 1);
  return op.sequence + (is_second ? 1 : 0);
}

std::optional<int> Lanes::first_absent(const Operation& op) const {
  const std::uint64_t sequence = awaited_in(op);
  for (int m = 0; m < size(); ++m) {
    if (m == me_ || has_finished(m, sequence) || has_closed(m)) continue;
    if (slot(m, sequence).entered.load() < stage_word(sequence, 1)) return job_rank(m);
  }
  return std::nullopt;
}

std::string Lanes::describe_missing(const Operation& op) const {
  const std::uint64_t sequence = awaited_in(op);
  std::string absent, slow, closed;
  std::vector<int> waiting{job_rank(me_)};
  for (int m = 0; m < size(); ++m) {
    if (m == me_ || has_finished(m, sequence)) continue;
    const bool has_entered = slot(m, sequence).entered.load() >= stage_word(sequence, 1);
    std::string& text = has_closed(m) ? closed : has_entered ? slow : absent;
    if (!text.empty()) text += "; ";
    text += "rank " + std::to_string(job_rank(m));
    if (has_closed(m)) {
      text += " gave up on the group";
      continue;
    }
    if (has_entered) {
      waiting.push_back(job_rank(m));
      text += " entered " + op.name() + " and did not finish it";
    } else {
      const bool is_second = sequence != op.sequence;
      text += (is_second ? " never entered the second half of " : " never entered ") + op.name();
    }
    text += " (" + describe_row(m) + ")";
  }
  // A member that gave up may have waited just as long for the same rank; it is named after those
  // that are still inside the operation.
  if (!closed.empty() && absent.empty()) slow += (slow.empty() ? "" : "; ") + closed;
  // If all have entered, it is not known which rank delays the others.
  if (absent.empty()) waiting = {job_rank(me_)};
  std::sort(waiting.begin(), waiting.end());
  if (absent.empty() && slow.empty()) slow = "every rank entered " + op.name();
  return (absent.empty() ? slow : absent) + "; " + cluster::name_ranks(waiting);
}

std::optional<Error> Lanes::failure() const {
  const auto& header = *reinterpret_cast<const Header*>(block_);
  if (header.failure_state.load(std::memory_order_acquire) != kReady) return std::nullopt;
  const Announcement heard{static_cast<ErrorCode>(header.failure_code), header.failure_speaker,
                           header.failure_about, header.failure_text};
  return heard.to_error().with_rank(job_rank(me_));
}

void Lanes::announce(const Error& error) const noexcept {
  auto& header = *reinterpret_cast<Header*>(block_);
  std::uint32_t none = kNone;
  if (!header.failure_state.compare_exchange_strong(none, kWriting)) return;
  const Announcement said = Announcement::of(error, job_rank(me_));
  header.failure_speaker = said.speaker;
  header.failure_about = said.about;
  header.failure_code = static_cast<std::uint32_t>(said.code);
  std::snprintf(header.failure_text, kTextSize, "%s", said.text.c_str());
  header.failure_state.store(kReady, std::memory_order_release);
  // Wakes all members; writing any word does that.
  publish(lane(me_).row.since, now_ns());
}

}  // namespace trireme::comm::shm
