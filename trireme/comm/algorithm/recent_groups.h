// RecentGroups remembers which groups are over on this rank, so that a messenger can drop what
// still comes for them: the last kMax of them, however many a job makes.
//
// What comes for an older one was sent by a rank that is so many groups behind. It is kept like any
// message that nobody asked for yet, and bounded as those are.

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
  std::deque<std::uint64_t> order_;  // the longest ago first
};

}  // namespace trireme::comm
