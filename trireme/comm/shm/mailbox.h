// Mailbox carries tagged messages between the members of a group that share an arena: a few
// letters for every ordered pair, each with two windows through which ordinary memory streams.
//
// A message of one window or less is out of the sender's hands as soon as a letter is free;
// larger ones, and those in the arena, when the receiver has them. Messages of one pair and tag
// arrive in the order in which they were sent. At most kLetters messages of a pair wait unread;
// the next send waits for one of them.

#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "trireme/comm/operation.h"
#include "trireme/comm/shm/lanes.h"
#include "trireme/comm/task.h"

namespace trireme::comm::shm {

class Mailbox {
 public:
  // The memory is made at the first use: most groups never send.
  explicit Mailbox(Lanes& lanes) : lanes_(lanes) {}
  Mailbox(const Mailbox&) = delete;
  Mailbox& operator=(const Mailbox&) = delete;

  Task send(const Operation& op);
  Task receive(const Operation& op);

 private:
  struct Letter;
  void open(Deadline deadline);
  Letter& letter(int from, int to, int index) const noexcept;
  Letter* find_free(int to) const noexcept;
  Letter* find_posted(int from, std::uint32_t tag) const noexcept;
  void check(const Operation& op, const Letter& letter) const;

  Lanes& lanes_;
  std::byte* block_ = nullptr;

  // Who comes first, first: operations that wait are looked at in any order.
  struct Line {
    std::uint64_t last = 0;  // tickets given out
    std::uint64_t next = 0;  // whose turn it is
  };
  std::vector<Line> sending_;                                // by receiver
  std::map<std::pair<int, std::uint32_t>, Line> receiving_;  // by sender and tag
};

}  // namespace trireme::comm::shm
