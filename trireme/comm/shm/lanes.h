// Lanes is the block of shared memory through which the members of one group on one host run their
// collectives. Each member has one lane, which it alone writes and all others read.
//
// Each stage of an operation is one 64-bit word, `sequence << 24 | steps`, that only increases. A
// waiting member compares it, and it is never reset. This allows 2^40 operations of 2^24 windows.
// Operation s uses slot s % kInFlight and may begin there once every member has finished operation
// s - kInFlight.
//
// Memory: a lane is small. A member allocates the windows for ordinary memory, and its mailbox,
// when it first needs them; until then they use only address space.
//
// The rows of the progress board are also in the lanes, so that a surviving member can read the
// progress of a dead or frozen one.

#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "trireme/base/error.h"
#include "trireme/comm/arena.h"
#include "trireme/comm/operation.h"
#include "trireme/comm/shm/exposure.h"

namespace trireme::comm::shm {

inline constexpr std::uint64_t kInFlight = 16;
inline constexpr std::size_t kEagerSize = 2048;
inline constexpr std::size_t kWindowSize = std::size_t{256} << 10;
inline constexpr std::uint32_t kWindows = 4;
// An offset with the meaning: this memory is not in the arena.
inline constexpr std::uint64_t kPrivate = ~std::uint64_t{0};

using Word = std::atomic<std::uint64_t>;

// A member's announcement is in one cache line and its progress in another, so that other members
// fetch each line only when it changes.
struct alignas(128) Slot {
  Word entered;  // the fields below are valid
  OpRequest request;
  std::uint64_t input_offset;
  std::uint64_t output_offset;
  std::uint64_t rounds;
  alignas(64) Word produced;  // windows of input that other members may read
  Word reduced;               // windows, or all, of this member's slice that are combined
  Word consumed;              // windows, or all, of other members' data that were read
  Word claimed;  // strides of this member's slice that a member has claimed for combining
  Word finished;
};

struct BoardRow;

class Lanes {
 public:
  struct Member {
    int arena_member = 0;  // index of its doorbell
    int job_rank = 0;      // used in error messages
  };

  // `epoch` of an elastic job: the block is freed with its epoch if dead members still hold it.
  Lanes(std::shared_ptr<Arena> arena, std::vector<Member> members, int me, std::uint64_t key,
        Deadline deadline, std::uint64_t epoch = 0);
  ~Lanes();
  Lanes(const Lanes&) = delete;
  Lanes& operator=(const Lanes&) = delete;

  int me() const noexcept { return me_; }
  int size() const noexcept { return static_cast<int>(members_.size()); }
  int job_rank(int member) const noexcept {
    return members_[static_cast<std::size_t>(member)].job_rank;
  }
  Arena& arena() const noexcept { return *arena_; }
  const std::vector<Member>& members() const noexcept { return members_; }
  // The key of the block in which members store messages. It is released with the lanes of the last
  // member, because a message may be read after its sender has left.
  std::uint64_t mailbox_key() const noexcept { return key_ ^ kMailboxKey; }
  std::uint64_t epoch() const noexcept { return epoch_; }
  // Sets, and tests, whether a member has created its part of that block. Others read it only then.
  void open_mailbox() const noexcept { publish(mailbox_word(me_), 1); }
  bool has_mailbox(int member) const noexcept { return mailbox_word(member).load() != 0; }

  // Creates this member's windows; returns false while another process holds the directory's lock.
  bool open_windows();

  Slot& slot(int member, std::uint64_t sequence) const noexcept;
  std::byte* eager(int member, std::uint64_t sequence) const noexcept;
  // Window `round % kWindows` of the member's staged input, and of its combined results. REQUIRES:
  // open_windows(); for another member, that it has published something there.
  std::byte* staged(int member, std::uint32_t round) const noexcept;
  std::byte* result(int member, std::uint32_t round) const noexcept;

  // Access to other members' memory in place.
  Exposure& exposure() noexcept { return exposure_; }
  const Exposure& exposure() const noexcept { return exposure_; }

  // Whether a member has left normally and will enter nothing more. This becomes true a moment
  // after it left, because the reason why it left is often the better error and may still be in
  // flight.
  bool has_left(int member) const noexcept;
  // The same for a member that may never have used these lanes, as reported by its process.
  void note_departure(int job_rank) noexcept;
  bool has_finished(int member, std::uint64_t sequence) const noexcept;
  // The error for an operation that waits for a member that has left.
  Error departure_of(int member) const;

  // Publishes progress and wakes sleeping members.
  void publish(Word& word, std::uint64_t value) const noexcept;
  // Only wakes them, after progress was published in another way.
  void ring() const noexcept;
  // The smallest step count of a stage over all members; 0 for members that are behind `sequence`.
  std::uint32_t least(Word Slot::* stage, std::uint64_t sequence) const noexcept;
  bool everyone(Word Slot::* stage, std::uint64_t sequence, std::uint32_t steps) const noexcept;

  // Claims the next stride, of `strides`, of a member's slice that no member has begun. Returns
  // nothing if all are claimed, or if the slice belongs to another member that has not begun it.
  // The member that claims a stride combines it before it reports its own completion.
  std::optional<std::size_t> claim(int member, std::uint64_t sequence,
                                   std::size_t strides) const noexcept;

  // The member's row of the progress board; see board.h.
  BoardRow& row(int member) const noexcept;

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
  std::vector<StrideWords*> stride_words() const;

  std::shared_ptr<Arena> arena_;
  std::vector<Member> members_;
  int me_;
  std::uint64_t key_;
  std::uint64_t epoch_;
  std::byte* block_;
  Exposure exposure_;
  Windows* windows_ = nullptr;           // by member
  std::vector<std::uint64_t> departed_;  // by member: when its process left; 0: it has not left
};

}  // namespace trireme::comm::shm
