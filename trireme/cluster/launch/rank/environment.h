// The environment of a rank: its identity, where the store is, and how many threads it may use.
//
//   TRIREME_RANK, TRIREME_SIZE, TRIREME_LOCAL_RANK, TRIREME_LOCAL_SIZE, TRIREME_JOB
//   TRIREME_STORE        unix:<job's folder>/control.sock; store.sock in an elastic job; or the
//                        store that the user specified
//   TRIREME_JOB_FOLDER   <job's folder>
//   TRIREME_SECRET_FILE  <job's folder>/secret; the secret itself is in no environment variable
//   TRIREME_THREADS, OMP_NUM_THREADS, MKL_NUM_THREADS
//
// In a job on several hosts TRIREME_STORE is tcp://, TRIREME_FEED is where events and metrics are
// sent, and TRIREME_ADDRESS is where ranks on other hosts reach this one.
//
// In an elastic job TRIREME_RANK is the worker's number, which is never reused, and TRIREME_SIZE is
// the number of workers that the job started with. It also sets TRIREME_WORKER (the same number),
// TRIREME_ELASTIC=1 and TRIREME_ORPHAN_TIMEOUT, in seconds.
//
// Overrides:     the user's own OMP_NUM_THREADS and MKL_NUM_THREADS are kept. If an outer `trireme
//                run` set them (they equal its TRIREME_THREADS), they are replaced, as is every
//                TRIREME_ variable above. TRIREME_SECRET and TRIREME_STORE_RANK, which apply to
//                other launchers, are removed.
// Thread safety: pure functions.

#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "trireme/base/clock.h"

namespace trireme::cluster::launch {

using EnvironmentVariables = std::vector<std::string>;  // "NAME=value"

struct RankPlace {
  int rank = 0;
  int size = 1;
  int threads = 1;
  std::string job;
  std::filesystem::path folder;
  // Elastic jobs: which share of the host's cores the worker has, and how long it continues without
  // a launcher and coordinator.
  std::optional<int> share{};
  Duration orphan_timeout{};
  // Where the store is, if not in the folder.
  std::string store{};
  // Jobs on several hosts: the first rank of this host, its number of ranks, where events are sent,
  // and where other ranks reach it.
  int first = 0;
  int local_size = 0;  // 0: all
  std::string feed{};
  std::string address{};
};

// The environment that this process was started with.
EnvironmentVariables own_environment();

std::optional<std::string_view> find(const EnvironmentVariables& environment,
                                     std::string_view name);
void set(EnvironmentVariables& environment, std::string_view name, std::string_view value);

// The number of threads that the user set; 0: not set.
int threads_wanted(const EnvironmentVariables& environment);

EnvironmentVariables environment_of(const RankPlace& place, EnvironmentVariables inherited);

}  // namespace trireme::cluster::launch
