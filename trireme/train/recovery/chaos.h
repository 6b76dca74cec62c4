// Chaos injects faults into this worker, at the requested step and point. `trireme train --chaos`
// passes the faults to every worker in TRIREME_CHAOS (see trireme/base/fault.h).
//
// A fault whose point is not reached in the requested step, such as a checkpoint, is injected when
// the point is next reached.
//
// Errors:        InvalidInput if TRIREME_CHAOS cannot be parsed.
// Thread safety: reached() from any thread; the other functions from one thread at a time.

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
  // Null if TRIREME_CHAOS is not set.
  static std::unique_ptr<Chaos> from_environment();

  // Sets the function by which this worker declares another worker dead. Call it before training.
  void on_doubt(std::function<void(int worker)> doubt) { doubt_ = std::move(doubt); }
  void begin_step(std::int64_t step);
  void reached(FaultPoint point, int rank) override;

 private:
  void slow_down();

  std::vector<InjectedFault> mine_;
  std::function<void(int worker)> doubt_;
  std::mutex mutex_;                    // guards the steps of mine_
  std::atomic<std::int64_t> step_{-1};  // the current or last step
  double began_ = 0;                    // CPU seconds of this thread when the step began
};

}  // namespace trireme::train
