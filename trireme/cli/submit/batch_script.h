// BatchScript is what `trireme submit` hands to Slurm: a shell script that starts the launcher on
// the first node of an allocation, which starts the ranks on all of them (`--slurm`).
//
// Time:     Slurm sends the script SIGUSR1 `warning` before the time is up. The launcher then asks
//           the ranks to save and end, for which they have nearly all of it (--grace); and where
//           the job may be queued again it is, to go on from the checkpoint.
// Others:   a job that is cancelled or preempted gets SIGTERM, saves and ends too. The preempted
// one
//           is queued again: by the script where it ends in time, else by Slurm, which kills it.
// Again:    a job's second and later turns add --resume, if its folder has something to resume.
// Failure:  mistake() says what is wrong with it, before anything is written.
// Threads:  pure.

#pragma once

#include <string>
#include <vector>

namespace trireme::cli {

struct BatchScript {
  // The first line after the shell's, by which an older script of ours is known.
  static constexpr const char* kMark = "# Written by `trireme submit`; a new one replaces it.";

  std::string program{};               // trireme, by its whole path
  std::vector<std::string> command{};  // train or run, and their arguments
  std::string name = "trireme";
  int nodes = 1;
  int ranks_each = 1;  // a node
  int cores_each = 0;  // a rank; 0: Slurm's default
  std::string time{};
  std::string partition{};
  int warning = 60;  // seconds; 0: none
  bool is_requeued = true;
  std::vector<std::string> more{};  // further options of sbatch's

  // Empty, or what is wrong.
  std::string mistake() const;
  std::string text() const;

  // What follows --output in the command; empty: nothing does.
  std::string output() const;

 private:
  bool has_grace() const;  // whether the command says how long ranks have
};

}  // namespace trireme::cli
