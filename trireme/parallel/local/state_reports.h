// StateReports is what the ranks of a new group tell each other before they continue: whether a
// rank has the state that all ranks share, and a few numbers of its strategy.
//
// Errors:        what Group throws.
// Thread safety: a value.

#pragma once

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "trireme/comm/group.h"

namespace trireme::parallel::local {

class StateReports {
 public:
  // A collective. REQUIRES: the same number of `numbers` on every rank.
  static StateReports exchange(const comm::Group& group, bool has_state,
                               std::span<const std::int64_t> numbers);

  int ranks() const noexcept { return static_cast<int>(all_.size() / length_); }
  bool has_state(int rank) const { return report(rank)[0] != 0; }
  bool have_all_state() const;
  // The first rank that has a state; 0 if none has.
  int source() const;
  std::span<const std::int64_t> numbers(int rank) const { return report(rank).subspan(1); }

 private:
  StateReports(std::vector<std::int64_t> all, std::size_t length)
      : all_(std::move(all)), length_(length) {}
  std::span<const std::int64_t> report(int rank) const {
    return std::span(all_).subspan(static_cast<std::size_t>(rank) * length_, length_);
  }

  std::vector<std::int64_t> all_;  // by rank: whether it has a state, then its numbers
  std::size_t length_;             // of a report
};

}  // namespace trireme::parallel::local
