// Chaos hurts this worker on purpose, at the step and the moment that was asked for: what
// `trireme train --chaos` hands to every worker in TRIREME_CHAOS (see trireme/base/fault.h).
//
// A moment that does not come in its step, such as a checkpoint, counts when it comes.
//
// Failure: InvalidInput where the variable holds nothing that can be read.
// Threads: reached() on any; one at a time for the rest.

#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "trireme/base/fault.h"
#include "trireme/base/injected_fault.h"

namespace trireme::train {

class Chaos final : public Faults {
 public:
  Chaos(int worker, std::vector<InjectedFault> all);
  // Null where TRIREME_CHAOS is not set.
  static std::unique_ptr<Chaos> from_environment();

  // What makes this worker take another one for dead; set before it trains.
  void on_doubt(std::function<void(int worker)> doubt) { doubt_ = std::move(doubt); }
  void begin_step(std::int64_t step);
  void reached(FaultPoint point, int rank) override;

 private:
  void slow_down();

  std::vector<InjectedFault> mine_;
  std::function<void(int worker)> doubt_;
  std::mutex mutex_;                    // guards their steps
  std::atomic<std::int64_t> step_{-1};  // that runs, or ran last
  double began_ = 0;                    // seconds of this thread's work
};

}  // namespace trireme::train
