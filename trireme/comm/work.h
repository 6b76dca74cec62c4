// Work is an operation in flight.
//
// Thread safety: a thread other than the one that started the operation may wait for it.
// Errors:        wait() throws the operation's error; so does every later wait().
// Lifetime:      the spans of an operation must outlive it, so the destructor waits for it. If the
//                destructor runs during exception unwinding, it abandons the operation and its
//                group instead, because the other ranks may never reach it.

#pragma once

#include <memory>
#include <vector>

#include "trireme/base/deadline.h"

namespace trireme::comm {

class Engine;
struct Activity;

class [[nodiscard]] Work {
 public:
  // Work that is already complete.
  Work() = default;
  Work(std::shared_ptr<Engine> engine, std::shared_ptr<Activity> activity);
  Work(Work&&) noexcept;
  Work& operator=(Work&&) noexcept;
  ~Work();

  // Returns when the operation is complete on this rank.
  void wait();
  // The same with a deadline for the wait alone. For operations that were started with
  // Deadline::never(), because other ranks begin them much later.
  void wait(Deadline deadline);
  // Makes progress without waiting. Throws the operation's error once it has failed.
  bool is_done();

 private:
  void settle() noexcept;

  std::shared_ptr<Engine> engine_;
  std::shared_ptr<Activity> activity_;
  int exceptions_ = 0;
};

// Waits for all of them, in order; throws the first error after the others have ended.
void wait_all(std::vector<Work>& works);

}  // namespace trireme::comm
