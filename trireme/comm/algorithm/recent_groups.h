// RecentGroups remembers the last kMax groups that ended on this rank, so that a messenger can drop
// messages that still arrive for them.
//
// A message for an older group was sent by a rank that is more than kMax groups behind. It is
// buffered like any message without a matching receive, within the same bound.

#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <set>

namespace trireme::comm {

class RecentGroups {
 public:
  static constexpr std::size_t kMax = 4096;

  void add(std::uint64_t group) {
    if (!known_.insert(group).second) return;
    order_.push_back(group);
    if (order_.size() <= kMax) return;
    known_.erase(order_.front());
    order_.pop_front();
  }
  bool contains(std::uint64_t group) const { return known_.contains(group); }
  std::size_t count() const noexcept { return order_.size(); }

 private:
  std::set<std::uint64_t> known_;
  std::deque<std::uint64_t> order_;  // oldest first
};

}  // namespace trireme::comm
