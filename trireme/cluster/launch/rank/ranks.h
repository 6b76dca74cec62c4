// Ranks are the processes of a job on this host, with their output.
//
// Signals:       go to a rank's whole process group, except SIGUSR1 and SIGUSR2, which only the
//                rank's own process receives, because by default they would kill its children.
// Elastic:       workers are started and end at any time; their numbers are assigned in starting
//                order and never reused. The records of dead workers are released once they are
//                forgotten and their output was read, so that memory is bounded by the number of
//                live workers. The workers outlive the launcher. Their output goes through named
//                pipes in the job's folder that each worker also holds open itself, so that writing
//                never fails for lack of a reader, and the next launcher continues reading.
// Errors:        start() throws when a process cannot be created. A program that cannot be executed
// is reported as that rank's exit. Thread safety: only the launcher's thread, which must live as
// long as the job (see spawn.h).

#pragma once

#include <sys/types.h>

#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "trireme/base/file/descriptor.h"
#include "trireme/cluster/launch/host/cores.h"
#include "trireme/cluster/launch/job/worker_list.h"
#include "trireme/cluster/launch/output/rank_stream.h"
#include "trireme/cluster/launch/rank/rank_exit.h"
#include "trireme/cluster/launch/rank/spawn.h"
#include "trireme/cluster/launch/spec.h"

namespace trireme::cluster::launch {

// The ranks of one host in a job on several hosts: its agent passes their output on.
struct RanksPart {
  int first = 0;
  std::string address{};
  // Wraps what a rank wrote to one of its two streams for writing to this process's standard
  // output.
  std::function<std::string(int rank, int target, std::string_view bytes)> envelope{};
};

class Ranks {
 public:
  struct Options {
    const JobSpec* spec = nullptr;
    std::string job;
    std::filesystem::path folder;
    host::CorePlan cores;
    sigset_t mask{};  // for the ranks
    // Elastic jobs: how long workers continue without a launcher.
    std::optional<Duration> orphan_timeout{};
    std::optional<RanksPart> part{};
  };

  explicit Ranks(Options options);

  // Call it once, before any other function. Throws Io.
  void prepare();
  // Where ranks that start from now on find the store and send events; empty: in the folder.
  void set_store(std::string store) { store_ = std::move(store); }
  void set_feed(std::string feed) { feed_ = std::move(feed); }
  // Starts a rank, on the cores that the fewest other ranks use.
  void start(const RankOrder& order);
  // Takes over the workers that a dead launcher had started. Some may be dead by now; their ends
  // are reported like any other.
  void adopt(const std::vector<job::WorkerEntry>& workers);
  // The live workers, for a launcher that takes over.
  std::vector<job::WorkerEntry> worker_list() const;
  // `oom_watch` explains deaths by signal 9. Returns null for a process that is not a rank.
  const RankExit* on_reaped(pid_t pid, int status, host::OomWatch& oom_watch);
  // Reads what a dead rank has left in its pipes, so that the failure which it reported is known. A
  // process that it had started may still write: the number of reads is limited.
  void read_rest(int rank, output::Writer& writer);
  // Whether that process is one of the ranks believed to be alive.
  bool has(pid_t pid, unsigned long long start) const;
  void signal(int signal);
  // Kills one rank if it is alive; `why` describes its end.
  void kill_one(int rank, std::string why);
  // The rank's end was handled: it is removed from exits(), and its record is released once its
  // output was read.
  void forget(int rank);
  // Releases the forgotten ranks that have no more output. Invalidates pointers to streams.
  void release_forgotten();

  int alive() const noexcept { return alive_; }
  pid_t pid(int rank) const { return members_.at(rank).pid; }
  // Which of the plan's core shares it runs on.
  int share(int rank) const { return members_.at(rank).share; }
  // In the order in which the ends were seen.
  const std::vector<RankExit>& exits() const noexcept { return exits_; }
  const output::Tail& tail(int rank) const { return members_.at(rank).tail; }
  // The streams of all ranks, including closed ones.
  std::deque<output::RankStream>& streams() noexcept { return streams_; }
  const std::deque<output::RankStream>& streams() const noexcept { return streams_; }

 private:
  struct Member {
    pid_t pid = 0;
    unsigned long long start = 0;
    int share = 0;
    bool is_alive = false;
    bool is_forgotten = false;
    int signal_sent = 0;
    std::string killed{};  // why kill_one() was called
    output::Tail tail;
    Descriptor log;
  };

  struct Pipe {
    Descriptor out, in;
  };

  int free_share() const;
  void start_process(const RankOrder& order);
  Pipe make_channel(int rank, int target) const;
  EnvironmentVariables environment_for(const RankOrder& order, int share) const;
  std::filesystem::path pipe_path(int rank, int target) const;
  Descriptor open_reader(int rank, int target) const;
  void add_stream(int rank, int target, Descriptor pipe);
  void read_troubles();

  Options options_;
  std::string store_, feed_;
  EnvironmentVariables inherited_;
  std::map<int, Member> members_;  // by number; streams point into it
  std::deque<output::RankStream> streams_;
  std::vector<RankExit> exits_;
  std::vector<SpawnTrouble> troubles_;
  Descriptor trouble_out_, trouble_in_;
  rlimit files_max_{};
  int alive_ = 0;
};

}  // namespace trireme::cluster::launch
