// KnownMembers is the members of the newest epoch of an elastic job, which hold its training state,
// as far as its launcher knows. They are read from the store in the background and may be out of
// date, so they are read again before the job restarts for lack of a live member.
//
// Thread safety: one thread.

#pragma once

#include <algorithm>
#include <set>
#include <utility>

namespace trireme::cluster::launch {

class KnownMembers {
 public:
  // As read in the background. False: they are the known ones.
  bool set(const std::set<int>& workers) {
    if (workers == workers_) return false;
    workers_ = workers;
    is_confirmed_ = false;
    return true;
  }
  // The answer to should_confirm().
  void confirm(const std::set<int>& workers) {
    workers_ = workers;
    is_confirmed_ = std::exchange(is_confirming_, false);
  }
  // A worker has ended: what was read before confirms nothing.
  void expire() { is_confirming_ = is_confirmed_ = false; }
  // A new job begins.
  void clear() { workers_.clear(); }

  bool is_empty() const noexcept { return workers_.empty(); }
  template <class Predicate>
  bool has_any(const Predicate& is_wanted) const {
    return std::any_of(workers_.begin(), workers_.end(), is_wanted);
  }
  // They were read after the last end of a worker.
  bool is_confirmed() const noexcept { return is_confirmed_; }
  // True once, if they have to be read again.
  bool should_confirm() { return !is_confirmed_ && !std::exchange(is_confirming_, true); }

 private:
  std::set<int> workers_;
  bool is_confirming_ = false;  // they are being read, since the last end of a worker
  bool is_confirmed_ = false;
};

}  // namespace trireme::cluster::launch
