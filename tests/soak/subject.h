// Subject is a `trireme train` for fault injection: an elastic job in its own process, whose
// workers and coordinator can be found and whose steps can be read while it runs.
//
// Its output goes to <folder>/output.log, its trained job to <folder>/job.
//
// Errors:        Io or Exhausted if it cannot be started. The caller evaluates its exit status.
// Lifetime:      the destructor kills all remaining processes and waits for their end.
// Thread safety: one thread.

#pragma once

#include <sys/types.h>

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "trireme/base/deadline.h"
#include "trireme/base/file/temporary_folder.h"
#include "trireme/monitor/step_line.h"

namespace trireme::soak {

class Subject {
 public:
  struct Options {
    std::filesystem::path folder;  // used by this job only; created if it does not exist
    std::filesystem::path recipe;
    std::vector<std::string> settings;  // key=value
    int workers = 4;
    std::string chaos{};
    std::filesystem::path program;  // `trireme`
  };
  explicit Subject(const Options& options);
  ~Subject();
  Subject(const Subject&) = delete;
  Subject& operator=(const Subject&) = delete;

  // The launcher's exit code after it has ended; 128 plus the signal number if a signal killed it.
  std::optional<int> status();
  // The living worker processes, by worker number.
  std::map<int, pid_t> workers() const;
  std::optional<pid_t> coordinator() const;
  // Lines that were written since the last call.
  std::vector<monitor::StepLine> new_lines();

  std::filesystem::path job() const { return folder_ / "job"; }
  std::filesystem::path output() const { return folder_ / "output.log"; }
  // One line for each remaining process, file in its runtime folder and name in /dev/shm that has
  // not disappeared by the deadline.
  std::vector<std::string> leftovers(Deadline deadline) const;

 private:
  std::vector<pid_t> processes() const;

  std::filesystem::path folder_;
  TemporaryFolder runtime_;  // its path also identifies the job's processes
  pid_t launcher_ = 0;
  std::optional<int> status_;
  std::size_t read_ = 0;  // bytes of the log
};

}  // namespace trireme::soak
