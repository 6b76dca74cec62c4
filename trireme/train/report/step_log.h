// StepLog appends a line to the file that TRIREME_STEP_LOG names when this worker begins its first
// slot and whenever a step ended here: see trireme/monitor/step_line.h.
//
// All workers of a job write to one file: a line is one write, and lines are never torn apart.
// Passes every point on to `next`, which may be null.
//
// Failure: NotFound or Io where the file cannot be opened; what cannot be written is lost.
// Threads: reached() on any; write() on one.

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
  // Null where the variable is not set.
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
