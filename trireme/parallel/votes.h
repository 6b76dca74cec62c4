// Votes takes the maximum of a few numbers over all ranks in every step. The result of a vote
// arrives `slack` steps later, so that a rank waits for another only if that one is more than
// `slack` steps behind.
//
//   Votes votes(group, 2);
//   if (const auto all = votes.cast({is_stop_wanted, 0, 0})) ...   // the votes of two steps ago
//
// Every rank gets the same result in the same step; without slack it is that of the current vote.
//
// Errors:        what Group throws.
// Thread safety: one thread at a time. cast() and drain() are collectives.

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

  // Nothing in the first `slack` steps.
  std::optional<Ballot> cast(const Ballot& mine);
  // Waits for votes in flight and discards them, before a step that does not follow the last one.
  void drain();

 private:
  struct Pending {
    Ballot ballot;
    comm::Work work;
  };

  comm::Group group_;
  std::int64_t slack_;
  // Oldest first. A collective in flight writes to its entry, so entries must not move.
  std::deque<std::unique_ptr<Pending>> pending_;
};

}  // namespace trireme::parallel
