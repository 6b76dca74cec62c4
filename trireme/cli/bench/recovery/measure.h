// What `trireme bench recovery` does to a job: one incident after the other, each once all workers
// are there again and have found their pace.
//
//   kill         SIGKILL of a worker
//   freeze       SIGSTOP of a worker; elastic.heartbeat is 1 s
//   coordinator  SIGKILL of the coordinator, and before it as many steps in which nothing happens
//
// Failure: Deadline where a job does not get over an incident in time.
// Threads: one.

#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace trireme::cli::bench::recovery {

enum class Incident { Kill, Freeze, Coordinator };

struct MeasureOptions {
  Incident incident = Incident::Kill;
  std::string sync = "shared";
  int workers = 4;
  int times = 10;
  std::filesystem::path folder;     // of its own
  std::filesystem::path program{};  // see Subject
};

struct Measured {
  // Seconds: see Timeline::lost() and jolt().
  std::vector<double> lost;
  // From the death until the worker that takes its place begins its first slot.
  std::vector<double> replacement;
  // What that costs the others: jolt() of a few steps around it.
  std::vector<double> join;
  // jolt() of a moment at which nothing happened, once before each death of the coordinator: what
  // the noise of steps makes of the same statistic.
  std::vector<double> undisturbed;
  double step = 0;  // the median of the survivors' steps
};
Measured measure(const MeasureOptions& options);

}  // namespace trireme::cli::bench::recovery
