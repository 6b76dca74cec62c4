// The environment of a rank: who it is, where the others are found, how many threads it may use.
//
//   TRIREME_RANK, TRIREME_SIZE, TRIREME_LOCAL_RANK, TRIREME_LOCAL_SIZE, TRIREME_JOB
//   TRIREME_STORE        unix:<job's folder>/control.sock; store.sock in an elastic job; or the
//                        store that the user named
//   TRIREME_JOB_FOLDER   <job's folder>
//   TRIREME_SECRET_FILE  <job's folder>/secret; the secret itself is in no environment
//   TRIREME_THREADS, OMP_NUM_THREADS, MKL_NUM_THREADS
//
// In a job on several hosts TRIREME_STORE is tcp://, TRIREME_FEED is where events and metrics go,
// and TRIREME_ADDRESS where ranks of other hosts reach this one.
//
// In an elastic job TRIREME_RANK is the worker's number, which no other ever had, and TRIREME_SIZE
// how many the job began with; further TRIREME_WORKER, the same number, TRIREME_ELASTIC=1 and
// TRIREME_ORPHAN_TIMEOUT, in seconds.
//
// Meaning: the user's own OMP_NUM_THREADS and MKL_NUM_THREADS are kept; those that an outer
//          `trireme run` had set (they equal its TRIREME_THREADS) are replaced, as is every
//          TRIREME_ variable above. TRIREME_SECRET and TRIREME_STORE_RANK, which
//          were meant for another launcher, are removed.
// Threads: pure.

#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "trireme/base/clock.h"

namespace trireme::cluster::launch {

using Environment = std::vector<std::string>;  // "NAME=value"

struct RankPlace {
  int rank = 0;
  int size = 1;
  int threads = 1;
  std::string job;
  std::filesystem::path folder;
  // Of an elastic job: which share of the host's cores it got, and for how long it may be alone.
  std::optional<int> share{};
  Duration orphan_timeout{};
  // Where the store is, if not in the folder.
  std::string store{};
  // Of a job on several hosts: the first rank of this one, how many it has, where events go, and
  // where others reach it.
  int first = 0;
  int local_size = 0;  // 0: all
  std::string feed{};
  std::string address{};
};

// What this process was started with.
Environment own_environment();

std::optional<std::string_view> find(const Environment& environment, std::string_view name);
void set(Environment& environment, std::string_view name, std::string_view value);

// The user's own number of threads, where there is one; 0: none.
int threads_wanted(const Environment& environment);

Environment environment_of(const RankPlace& place, Environment inherited);

}  // namespace trireme::cluster::launch
