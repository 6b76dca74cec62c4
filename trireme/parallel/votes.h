// Votes are a few numbers that all ranks compare in every step, of which the largest counts. They
// are told so many steps later (slack): a rank waits for nobody who is no further behind than that.
//
//   Votes votes(group, 2);
//   if (const auto all = votes.cast({is_stop_wanted, 0, 0})) ...   // what was cast two steps ago
//
// Every rank is told the same in the same step. Without slack that is what was cast just now.
//
// Threads: one. A collective.

#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>

#include "trireme/comm/group.h"

namespace trireme::parallel {

class Votes {
 public:
  using Ballot = std::array<std::int32_t, 4>;

  Votes(comm::Group group, std::int64_t slack);

  std::int64_t slack() const noexcept { return slack_; }

  // Nothing while so many steps have not been made.
  std::optional<Ballot> cast(const Ballot& mine);
  // Waits for what is on its way and forgets it: for steps that do not follow the last ones.
  void drain();

 private:
  struct Pending {
    Ballot ballot;
    comm::Work work;
  };

  comm::Group group_;
  std::int64_t slack_;
  std::deque<std::unique_ptr<Pending>> pending_;  // the oldest first; each at a place of its own
};

}  // namespace trireme::parallel
