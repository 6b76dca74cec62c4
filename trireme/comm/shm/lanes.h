// Lanes is the block of shared memory through which the members of one group on one host run
// their collectives: for each member a lane that it alone writes and all others read.
//
// Every stage of an operation is one 64-bit word, `sequence << 24 | steps`, that only grows; a
// waiter compares and nothing is ever reset. That is enough for 2^40 operations of 2^24 windows.
// Operation s uses slot s % kInFlight and may begin there once every member has finished
// operation s - kInFlight.
//
// Memory: a lane is small. The windows through which ordinary memory goes are taken by each member
// when it first needs them, and so is its mailbox; what stays unused costs addresses alone.
//
// The rows of the progress board lie in the lanes too, so a survivor can read where a dead or
// frozen member stands.

#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "trireme/base/error.h"
#include "trireme/comm/arena.h"
#include "trireme/comm/operation.h"

namespace trireme::comm::shm {

inline constexpr std::uint64_t kInFlight = 16;
inline constexpr std::size_t kEagerSize = 2048;
inline constexpr std::size_t kWindowSize = std::size_t{256} << 10;
inline constexpr std::uint32_t kWindows = 4;
// An offset that says: this memory is not in the arena.
inline constexpr std::uint64_t kPrivate = ~std::uint64_t{0};

using Word = std::atomic<std::uint64_t>;

// What a member announces lies in one cache line, how far it has come in another: others fetch each
// as often as it changes.
struct alignas(128) Slot {
  Word entered;  // what follows is valid
  Request request;
  std::uint64_t input_offset;
  std::uint64_t output_offset;
  std::uint64_t rounds;
  alignas(64) Word produced;  // windows of input that others may read
  Word reduced;               // windows, or all, of this member's slice combined
  Word consumed;              // windows, or all, of others' data read
  Word claimed;               // strides of this member's slice that somebody combines
  Word finished;
};

// What a member does, for others to read at any time; each field by itself is whole.
struct alignas(64) BoardRow {
  Word sequence;
  std::atomic<std::uint32_t> kind;
  std::atomic<std::uint32_t> phase;
  Word since;  // steady clock, nanoseconds
  std::array<Word, 5> label;
};

enum class Phase : std::uint32_t { Outside, Entered, Moving, Finished };

class Lanes {
 public:
  struct Member {
    int arena_member = 0;  // whose doorbell
    int job_rank = 0;      // for messages
  };

  Lanes(std::shared_ptr<Arena> arena, std::vector<Member> members, int me, std::uint64_t key,
        Deadline deadline);
  ~Lanes();
  Lanes(const Lanes&) = delete;
  Lanes& operator=(const Lanes&) = delete;

  int me() const noexcept { return me_; }
  int size() const noexcept { return static_cast<int>(members_.size()); }
  int job_rank(int member) const noexcept {
    return members_[static_cast<std::size_t>(member)].job_rank;
  }
  Arena& arena() const noexcept { return *arena_; }
  const std::shared_ptr<Arena>& shared_arena() const noexcept { return arena_; }
  const std::vector<Member>& members() const noexcept { return members_; }
  // The block in which members leave messages; it goes with the lanes of the last member, since a
  // message may be read when its sender has left.
  std::uint64_t mailbox_key() const noexcept { return key_ ^ kMailboxKey; }
  // Gives back what dead members of a group held of its memory. REQUIRES: nobody is in it.
  static void forget(Arena& arena, std::uint64_t key) noexcept;
  // Says, and asks, whether a member has made its part of that block; others read it only then.
  void open_mailbox() const noexcept { publish(mailbox_word(me_), 1); }
  bool has_mailbox(int member) const noexcept { return mailbox_word(member).load() != 0; }

  // Makes this member's windows; false while another process is at the arena's directory.
  bool open_windows();

  Slot& slot(int member, std::uint64_t sequence) const noexcept;
  std::byte* eager(int member, std::uint64_t sequence) const noexcept;
  // Window `round % kWindows` of the member's staged input, and of its combined results. REQUIRES:
  // open_windows(); that of another member only when it has published something there.
  std::byte* staged(int member, std::uint32_t round) const noexcept;
  std::byte* result(int member, std::uint32_t round) const noexcept;

  // Memory of an operation that others read or write where it lies, until the operation has
  // finished; what is exposed when this member gives up may have to be kept from reuse.
  void expose(const void* data, std::size_t size);
  void cover(const void* data) noexcept;
  // A stride is the time in which this member touches memory that others exposed. False, and no
  // stride, where one of them has given up: that memory is its owner's again.
  bool begin_stride() const noexcept;
  void end_stride() const noexcept;
  // Whether a member gave up; what was read from it in a stride before may then be anything.
  bool anyone_closed() const noexcept;
  // This member's memory may not be touched any more. Waits a moment until nobody does; if a
  // member stays inside a stride (it is frozen), what is exposed is never allocated again.
  void close() noexcept;

  // Whether a member has left in order: it enters nothing more. Known a moment later than it
  // happened, because what made it leave is often the better answer, and on its way here too.
  bool has_left(int member) const noexcept;
  // The same of a member that may never have been here, as its process says.
  void note_departure(int job_rank) noexcept;
  bool has_finished(int member, std::uint64_t sequence) const noexcept;
  // What is thrown to whoever waits for one that has left.
  Error departure_of(int member) const;

  // Publishes progress and wakes the members that sleep.
  void publish(Word& word, std::uint64_t value) const noexcept;
  // Only wakes them, after progress was published in another way.
  void ring() const noexcept;
  // The smallest step count of a stage over all members, 0 for those still behind `sequence`.
  std::uint32_t least(Word Slot::* stage, std::uint64_t sequence) const noexcept;
  bool everyone(Word Slot::* stage, std::uint64_t sequence, std::uint32_t steps) const noexcept;

  // The next stride of a member's slice that nobody has begun, of so many; nothing where all are
  // claimed, or where the slice is another's who has not begun it. Whoever claims one combines it
  // before it says that it is done.
  std::optional<std::size_t> claim(int member, std::uint64_t sequence,
                                   std::size_t strides) const noexcept;

  void note(const Operation& op, Phase phase) const noexcept;
  // "rank 3 never entered all_reduce #7 (bucket 2) (it finished ...); ranks 0-2": who is missing,
  // and who waits for them, this rank among them.
  std::string describe_missing(const Operation& op) const;

  // The first failure that any member announced here.
  std::optional<Error> failure() const;
  void announce(const Error& error) const noexcept;

  static std::uint64_t stage_word(std::uint64_t sequence, std::uint32_t steps) noexcept {
    return sequence << 24 | steps;
  }

 private:
  struct Header;
  struct Lane;
  struct Windows;
  Lane& lane(int member) const noexcept;
  Word& mailbox_word(int member) const noexcept;
  static constexpr std::uint64_t kMailboxKey = 0x6d61696c626f7821u;
  static constexpr std::uint64_t kWindowsKey = 0x77696e646f777321u;
  std::uint64_t windows_key() const noexcept { return key_ ^ kWindowsKey; }
  std::string describe_row(int member) const;
  bool has_closed(int member) const noexcept;
  bool is_quiet() const noexcept;

  std::shared_ptr<Arena> arena_;
  std::vector<Member> members_;
  int me_;
  std::uint64_t key_;
  std::byte* block_ = nullptr;
  Windows* windows_ = nullptr;  // by member
  std::multimap<const void*, std::size_t> exposed_;
  bool is_closed_ = false;
  std::vector<std::uint64_t> departed_;  // by member: when its process left; 0: it has not
};

}  // namespace trireme::comm::shm
