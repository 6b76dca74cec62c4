// BatchScript is the script that `trireme submit` passes to Slurm. It starts the launcher on the
// first node of an allocation; the launcher starts the ranks on all nodes (`--slurm`).
//
// Time limit:    Slurm sends SIGUSR1 to the script `warning` seconds before the time limit. The
//                launcher then asks the ranks to save and end; they have most of that time
//                (--grace). If the job may be requeued, the script requeues it, and it continues
//                from the checkpoint.
// Preemption:    a job that is cancelled or preempted receives SIGTERM, saves and ends too. A
//                preempted job is requeued: by the script if it ends in time, otherwise by Slurm,
//                which kills it.
// Requeue:       the second and later runs of a job add --resume=auto if its output folder contains
//                a job.
// Errors:        mistake() describes what is wrong, before anything is written.
// Thread safety: pure functions.

#pragma once

#include <string>
#include <vector>

namespace trireme::cli {

struct BatchScript {
  // The first line after the shebang, which identifies an older script of `trireme submit`.
  static constexpr const char* kMark = "# Written by `trireme submit`; a new one replaces it.";

  std::string program{};               // absolute path of trireme
  std::vector<std::string> command{};  // train or run, and their arguments
  std::string name = "trireme";
  int nodes = 1;
  int ranks_each = 1;  // per node
  int cores_each = 0;  // per rank; 0: Slurm's default
  std::string time{};
  std::string partition{};
  int warning = 60;  // seconds; 0: none
  bool is_requeued = true;
  std::vector<std::string> more{};  // further sbatch options

  // What is wrong; empty if nothing.
  std::string mistake() const;
  std::string text() const;

  // The value of --output in the command; empty if it is missing.
  std::string output() const;

 private:
  bool has_grace() const;  // whether the command contains --grace
};

}  // namespace trireme::cli
