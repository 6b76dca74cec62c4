// Ranks are the processes of a job on this host, with what they write.
//
// Meaning:  signals go to a rank's whole process group, except SIGUSR1 and SIGUSR2, which the
//           rank's own process alone gets: by default they would kill its children.
// Threads:  one, the launcher's, which must live as long as the job (see spawn.h).
// Failure:  start() throws when a process cannot be made; those already started are the caller's
//           to kill. A program that cannot be executed shows as that rank's exit.

#pragma once

#include <sys/types.h>

#include <deque>
#include <string>
#include <vector>

#include "trireme/base/descriptor.h"
#include "trireme/cluster/launch/host/cores.h"
#include "trireme/cluster/launch/output/rank_stream.h"
#include "trireme/cluster/launch/rank_exit.h"
#include "trireme/cluster/launch/spawn.h"
#include "trireme/cluster/launch/spec.h"

namespace trireme::cluster::launch {

class Ranks {
 public:
  struct Options {
    const JobSpec* spec = nullptr;
    std::string job;
    std::filesystem::path folder;
    host::CorePlan cores;
    sigset_t mask{};  // for the ranks
  };

  explicit Ranks(Options options);

  void start();
  // `oom_watch` explains deaths by signal 9. Null for a process that is no rank.
  const RankExit* on_reaped(pid_t pid, int status, host::OomWatch& oom_watch);
  void signal(int signal);

  int alive() const noexcept { return alive_; }
  pid_t pid(int rank) const { return members_.at(static_cast<std::size_t>(rank)).pid; }
  // In the order in which the ends were seen.
  const std::vector<RankExit>& exits() const noexcept { return exits_; }
  const output::Tail& tail(int rank) const {
    return members_.at(static_cast<std::size_t>(rank)).tail;
  }
  // All ranks' streams; closed ones too.
  std::deque<output::RankStream>& streams() noexcept { return streams_; }

 private:
  struct Member {
    pid_t pid = 0;
    bool is_alive = false;
    int signal_sent = 0;
    output::Tail tail;
    Descriptor log;
  };

  void start_one(int rank, const Environment& inherited);
  void add_stream(int rank, int target, Descriptor pipe);
  void read_troubles();

  Options options_;
  std::vector<Member> members_;
  std::deque<output::RankStream> streams_;
  std::vector<RankExit> exits_;
  std::vector<SpawnTrouble> troubles_;
  Descriptor trouble_out_, trouble_in_;
  rlimit files_max_{};
  int alive_ = 0;
};

}  // namespace trireme::cluster::launch
