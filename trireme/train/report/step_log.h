// StepLog appends a line to the file that TRIREME_STEP_LOG names when this worker begins its first
// micro-batch and whenever it finishes a step: see trireme/monitor/step_line.h.
//
// All workers of a job write to one file. A line is a single write, so lines are never interleaved.
// Every fault point is passed on to `next`, which may be null.
//
// Errors:        NotFound or Io if the file cannot be opened. Later write errors are ignored.
// Thread safety: reached() from any thread; write() from one thread.

#pragma once

#include <atomic>
#include <memory>
#include <string>

#include "trireme/base/fault.h"
#include "trireme/base/file/descriptor.h"
#include "trireme/monitor/step_line.h"
#include "trireme/train/report/progress.h"
#include "trireme/train/step.h"

namespace trireme::train {

class StepLog final : public Faults {
 public:
  StepLog(const std::string& path, int worker, Faults* next);
  // Null if TRIREME_STEP_LOG is not set.
  static std::unique_ptr<StepLog> from_environment(Faults* next);

  void write(std::uint64_t epoch, const Progress& progress, const Outcome& outcome);
  void reached(FaultPoint point, int rank) override;

 private:
  void append(monitor::StepLine line) const;

  Descriptor file_;
  int worker_;
  Faults* next_;
  std::atomic<bool> has_begun_{false};
};

}  // namespace trireme::train
