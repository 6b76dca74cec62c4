// Environment is what a process's environment variables say about its role in a job: its rank, the
// world size, the job, and where the job's store is. It reads the variables of four launchers, in
// this order; with none of them set it describes a job with one rank.
//
// | launcher    | rank, size, local rank, local size                          | job            |
// | trireme run | TRIREME_RANK, _SIZE, _LOCAL_RANK, _LOCAL_SIZE               | TRIREME_JOB    |
// | torchrun    | RANK, WORLD_SIZE, LOCAL_RANK, LOCAL_WORLD_SIZE              | TORCHELASTIC_… |
// | mpirun      | OMPI_COMM_WORLD_RANK, _SIZE, _LOCAL_RANK, _LOCAL_SIZE       | PMIX_NAMESPACE |
// | srun        | SLURM_PROCID, SLURM_NTASKS, SLURM_LOCALID                   | job.step       |
//
// In an elastic job (TRIREME_ELASTIC=1, TRIREME_WORKER) the rank is the worker's number. It may be
// larger than the size, which is the number of workers that the job started with.
//
// TRIREME_ADDRESS is an address of this host that the other hosts can reach.
//
// TRIREME_CHECKSUMS=1 enables checksums for everything that ranks send to each other over TCP.
//
// TRIREME_JOB_FOLDER is the folder of a job started by trireme run; its launcher is reached there.
//
// For the location of the store see store_place.h. net::Secret reads the secret from TRIREME_SECRET
// or TRIREME_SECRET_FILE.
//
// Errors: InvalidInput for malformed and contradictory variables, with their names and values.
// Pure:   reads only what `lookup` returns.

#pragma once

#include <chrono>
#include <optional>
#include <string>

#include "trireme/base/clock.h"
#include "trireme/cluster/store/store_place.h"
#include "trireme/cluster/variables.h"

namespace trireme::cluster {

struct Environment {
  Launcher launcher = Launcher::None;
  int rank = 0;
  int size = 1;
  std::optional<int> local_rank{};  // unset: determined when the ranks meet
  std::optional<int> local_size{};
  std::string job{};  // unique among the jobs that run at the same time
  StorePlace store{};
  std::string address{};  // where ranks on other hosts reach this one; empty: not set
  std::string folder{};   // of the job, on this host; empty: not started by `trireme run`
  bool wants_checksums = false;
  // Elastic jobs only: how long a worker continues while no launcher watches the job or no
  // coordinator serves its store.
  bool is_elastic = false;
  Duration orphan_timeout = std::chrono::seconds(60);

  static Environment read(const Lookup& lookup);
};

}  // namespace trireme::cluster
