// Subject is a `trireme train` that is to be hurt: an elastic job in a process of its own, whose
// workers and coordinator can be found, and whose steps can be read while they are made.
//
// What it prints goes to <folder>/output.log, its trained job to <folder>/job.
//
// Failure:  Io or Exhausted where it cannot be started. How it ends is the caller's to judge.
// Lifetime: the destructor kills what is left of it, and waits for that.
// Threads:  one.

#pragma once

#include <sys/types.h>

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "trireme/base/deadline.h"
#include "trireme/base/temporary_folder.h"
#include "trireme/monitor/step_line.h"

namespace trireme::cli::soak {

class Subject {
 public:
  struct Options {
    std::filesystem::path folder;  // of its own; made where it is not there
    std::filesystem::path recipe;
    std::vector<std::string> settings;  // key=value
    int workers = 4;
    std::string chaos{};
    std::filesystem::path program{};  // `trireme`; empty: the one that runs
  };
  explicit Subject(const Options& options);
  ~Subject();
  Subject(const Subject&) = delete;
  Subject& operator=(const Subject&) = delete;

  // The launcher's exit code once it has ended; 128 plus the number for a signal.
  std::optional<int> status();
  // By number: those whose process lives.
  std::map<int, pid_t> workers() const;
  std::optional<pid_t> coordinator() const;
  // Lines that were written since the last call.
  std::vector<monitor::StepLine> new_lines();

  std::filesystem::path job() const { return folder_ / "job"; }
  std::filesystem::path output() const { return folder_ / "output.log"; }
  // One line for each thing that it left behind, given until the deadline to go: processes, files
  // in its runtime folder, its names in /dev/shm.
  std::vector<std::string> leftovers(Deadline deadline) const;

 private:
  std::vector<pid_t> processes() const;

  std::filesystem::path folder_;
  TemporaryFolder runtime_;  // its path is also the mark by which our processes are known
  pid_t launcher_ = 0;
  std::optional<int> status_;
  std::size_t read_ = 0;  // bytes of the log
};

}  // namespace trireme::cli::soak
