// The measurement of `trireme bench recovery`: causes one incident after another in a job. Each
// incident begins when all workers are running again and have reached a steady pace.
//
//   kill         SIGKILL of a worker
//   freeze       SIGSTOP of a worker; elastic.heartbeat is 1 s
//   coordinator  SIGKILL of the coordinator, preceded by the same number of undisturbed steps
//
// Errors:        Deadline if the job does not recover from an incident in time.
// Thread safety: one thread.

#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace trireme::bench::recovery {

enum class Incident { Kill, Freeze, Coordinator };

struct MeasureOptions {
  Incident incident = Incident::Kill;
  std::string sync = "shared";
  int workers = 4;
  int times = 10;
  std::filesystem::path folder;   // used by this measurement only
  std::filesystem::path program;  // `trireme`
};

struct RecoveryTimes {
  // In seconds: see Timeline::lost() and jolt().
  std::vector<double> lost;
  // From the failure until the replacement worker begins its first micro-batch.
  std::vector<double> replacement;
  // The cost of the join for the other workers: jolt() of a few steps around it.
  std::vector<double> join;
  // jolt() at a moment without an incident, measured once before each failure of the coordinator:
  // the value that noise alone gives the same statistic.
  std::vector<double> undisturbed;
  double step = 0;  // median step time of the survivors
};
RecoveryTimes measure(const MeasureOptions& options);

}  // namespace trireme::bench::recovery
