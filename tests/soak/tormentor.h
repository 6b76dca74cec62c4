// Tormentor injects the drawn faults into a running job and counts all faults that the job
// experiences.
//
// A fault is delayed until enough members are alive that at least one survives it. A fault that a
// worker injects into itself counts when the worker's process is gone.
//
// Thread safety: one thread; call look() often.

#pragma once

#include <functional>
#include <set>
#include <string>
#include <vector>

#include "tests/soak/draw.h"
#include "tests/soak/step_book.h"
#include "tests/soak/subject.h"
#include "trireme/base/clock.h"

namespace trireme::soak {

class Tormentor {
 public:
  // The arguments must outlive it.
  Tormentor(Subject& subject, const StepBook& book, const Draw& draw)
      : subject_(subject), book_(book), draw_(draw) {}

  // `is_over`: injects no more faults; workers that die from now on do not count.
  void look(bool is_over);

  int faults() const noexcept { return static_cast<int>(list_.size()); }
  // "12.3 s, step 40: freeze worker 3", ...
  const std::vector<std::string>& list() const noexcept { return list_; }

 private:
  bool strike(const Fault& fault);
  bool strike_members(const Fault& fault, const std::vector<int>& members);
  bool strike_coordinator();
  void hurt(int worker, int signal, std::string_view how);
  void note(const std::string& what);

  Subject& subject_;
  const StepBook& book_;
  const Draw& draw_;
  const TimePoint began_ = steady_clock().now();
  TimePoint struck_ = began_;
  std::size_t next_ = 0;
  std::map<int, pid_t> alive_;
  std::set<int> hurt_;  // hit by a fault: dead or about to die
  std::vector<std::string> list_;
};

}  // namespace trireme::soak
