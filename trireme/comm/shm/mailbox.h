// Mailbox sends tagged messages between the members of a group that share an arena.
//
// Each sender has its own box. A box has letters, which describe a message and its receiver; a few
// windows, in which short messages wait; and a few streams of two windows each, through which
// longer messages are copied once their receiver has taken the letter. A receiver sees every letter
// addressed to it and selects by tag, so no message waits behind one with another tag.
//
// Sending a message of one window or less completes as soon as a window is free for it. Sending a
// longer message, or one in the arena, completes when the receiver has it. Messages of one pair and
// tag arrive in the order in which they were sent.
//
// Errors: PeerLost if the other member has left; messages that it sent before can still be
//         received.
// Bounds: kUnreadMax letters per pair and kLetters per sender may be unread; the next send waits.
// Memory: one box per member that sends; receivers need none.

#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <utility>

#include "trireme/comm/operation.h"
#include "trireme/comm/shm/lanes.h"
#include "trireme/comm/task.h"

namespace trireme::comm::shm {

inline constexpr int kLetters = 512;
inline constexpr int kUnreadMax = 64;
inline constexpr int kLetterWindows = 8;
inline constexpr int kLetterStreams = 4;
inline constexpr std::size_t kLetterWindow = std::size_t{32} << 10;

class Mailbox {
 public:
  explicit Mailbox(Lanes& lanes) : lanes_(lanes) {}
  Mailbox(const Mailbox&) = delete;
  Mailbox& operator=(const Mailbox&) = delete;

  Task send(const Operation& op);
  Task receive(const Operation& op);

 private:
  struct Letter;
  struct Box;
  bool find_boxes();
  bool open_box();
  Box& box(int member) const noexcept;
  Letter* find_free(int to) noexcept;
  Letter* find_posted(int from, std::uint32_t tag) const noexcept;
  Letter* look_for(int from, std::uint32_t tag) const noexcept;
  int find_window() const noexcept;
  int find_stream() const noexcept;
  void post(const Operation& op, Letter& letter, std::uint64_t ticket, int window);
  void take(const Operation& op, Letter& letter);
  template <class Condition>
  Task wait_for(int peer, Condition condition);
  Task pour(const Operation& op, Letter& letter);
  Task drain(const Operation& op, Letter& letter);
  Task read_in_place(const Operation& op, Letter& letter);
  void check(const Operation& op, const Letter& letter) const;

  Lanes& lanes_;
  Box* boxes_ = nullptr;  // by member
  std::size_t next_letter_ = 0;
  std::array<bool, kLetterStreams> is_streaming_{};

  // First come, first served: pending operations are polled in any order, so each takes a ticket
  // before it waits for anything, including the box itself.
  struct Line {
    std::uint64_t last = 0;  // tickets issued
    std::uint64_t next = 0;  // ticket that may proceed next
  };
  std::map<int, Line> sending_;                              // by receiver
  std::map<std::pair<int, std::uint32_t>, Line> receiving_;  // by sender and tag
};

}  // namespace trireme::comm::shm
