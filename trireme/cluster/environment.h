// Environment is what a process's variables say about its place in a job: which rank of how many,
// of which job, and where the job's store is. It understands those of four launchers, in this
// order; with none of them set it describes a job of one.
//
// | launcher    | rank, size, local rank, local size                          | job            |
// | trireme run | TRIREME_RANK, _SIZE, _LOCAL_RANK, _LOCAL_SIZE               | TRIREME_JOB    |
// | torchrun    | RANK, WORLD_SIZE, LOCAL_RANK, LOCAL_WORLD_SIZE              | TORCHELASTIC_… |
// | mpirun      | OMPI_COMM_WORLD_RANK, _SIZE, _LOCAL_RANK, _LOCAL_SIZE       | PMIX_NAMESPACE |
// | srun        | SLURM_PROCID, SLURM_NTASKS, SLURM_LOCALID                   | job.step       |
//
// In an elastic job (TRIREME_ELASTIC=1, TRIREME_WORKER) the rank is the worker's number, which may
// be larger than the size: that is how many workers the job began with.
//
// TRIREME_ADDRESS is an address of this host that the others reach.
//
// TRIREME_CHECKSUMS=1 asks for checksums of all that ranks send each other over TCP.
//
// TRIREME_JOB_FOLDER is the folder of a job of trireme run, where its launcher is reached.
//
// Where the store is: see store_place.h. The secret is read by net::Secret from TRIREME_SECRET or
// TRIREME_SECRET_FILE.
//
// Failure: InvalidInput for malformed and contradictory variables, naming them and their values.
// Pure:    reads nothing but what `lookup` says.

#pragma once

#include <chrono>
#include <optional>
#include <string>

#include "trireme/base/clock.h"
#include "trireme/cluster/store_place.h"
#include "trireme/cluster/variables.h"

namespace trireme::cluster {

struct Environment {
  Launcher launcher = Launcher::None;
  int rank = 0;
  int size = 1;
  std::optional<int> local_rank{};  // nothing: found out when the ranks meet
  std::optional<int> local_size{};
  std::string job{};  // differs between jobs that run at the same time
  StorePlace store{};
  std::string address{};  // where ranks of other hosts reach this one; empty: nobody said
  std::string folder{};   // of the job, on this host; empty: `trireme run` did not start it
  bool wants_checksums = false;
  // Of an elastic job: how long a worker goes on when nobody watches the job or serves its store.
  bool is_elastic = false;
  Duration orphan_timeout = std::chrono::seconds(60);

  static Environment read(const Lookup& lookup);
};

}  // namespace trireme::cluster
