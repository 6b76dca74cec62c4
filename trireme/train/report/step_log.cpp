#include "trireme/train/report/step_log.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>

#include "trireme/base/clock.h"
#include "trireme/base/error.h"

namespace trireme::train {

StepLog::StepLog(const std::string& path, int worker, Faults* next)
    : file_(::open(path.c_str(), O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0644)),
      worker_(worker),
      next_(next) {
  if (!file_) throw system_error("opening " + path, errno);
}

std::unique_ptr<StepLog> StepLog::from_environment(Faults* next) {
  const char* path = std::getenv(monitor::kStepLogVariable);
  const char* worker = std::getenv("TRIREME_RANK");
  if (path == nullptr || *path == 0) return nullptr;
  return std::make_unique<StepLog>(path, worker == nullptr ? 0 : std::atoi(worker), next);
}

void StepLog::write(std::uint64_t epoch, const Progress& progress, const Outcome& outcome) {
  append({.epoch = static_cast<std::int64_t>(epoch),
          .step = progress.step,
          .samples = outcome.samples,
          .pass = progress.position.epoch,
          .cursor = progress.position.cursor,
          .loss = outcome.loss});
}

void StepLog::reached(FaultPoint point, int rank) {
  if (point == kForward && !has_begun_.exchange(true)) append({.is_begin = true});
  reach(next_, point, rank);
}

void StepLog::append(monitor::StepLine line) const {
  line.worker = worker_;
  line.nanoseconds = std::chrono::nanoseconds(steady_clock().now().time_since_epoch()).count();
  const std::string text = line.to_text();
  // Training must not end because the disk of the log is full.
  if (::write(file_.get(), text.data(), text.size()) < 0) return;
}

}  // namespace trireme::train
