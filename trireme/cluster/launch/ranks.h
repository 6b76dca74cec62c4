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
// Errors:        start() throws when a process cannot be created; the caller kills those already
//                started. A program that cannot be executed is reported as that rank's exit.
// Thread safety: only the launcher's thread, which must live as long as the job (see spawn.h).

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
#include "trireme/cluster/launch/rank_exit.h"
#include "trireme/cluster/launch/spawn.h"
#include "trireme/cluster/launch/spec.h"

namespace trireme::cluster::launch {

// The ranks of one host in a job on several hosts.
struct RanksPart {
  int first = 0;
  int size = 1;  // of the whole job
  std::string address{};
  std::string feed{};  // where events and metrics are sent
  // Elastic jobs; the workers die with this process nevertheless.
  std::optional<Duration> orphan_timeout{};
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
    sigset_t mask{};      // for the ranks
    std::string store{};  // where the store is, if not in the folder
    std::optional<RanksPart> part{};
  };

  explicit Ranks(Options options);

  // Starts all ranks of the job.
  void start();
  // Starts one more worker and returns its number; it runs on the cores that the fewest other
  // workers use. REQUIRES: start() was called before.
  int start_more(const std::vector<std::string>& arguments_more = {});
  // The same with a number chosen by the caller. REQUIRES: start() or prepare().
  void start_as(int rank, const std::vector<std::string>& arguments_more);
  // Instead of start(), if no rank is to be started yet.
  void prepare();
  void set_feed(std::string feed) { options_.part->feed = std::move(feed); }
  // The number of workers that start together from now on, which is the value of TRIREME_SIZE.
  void set_size(int size) { size_ = size; }
  // Takes over the workers that a dead launcher had started, instead of start(). Some may be dead
  // by now; their ends are reported like any other.
  void adopt(const job::WorkerList& worker_list);
  // The live workers, for a launcher that takes over.
  std::vector<job::WorkerEntry> worker_list() const;
  int next() const noexcept { return next_; }
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

  int free_share() const;
  void start_one(int rank, std::vector<std::string> arguments);
  std::filesystem::path pipe_path(int rank, int target) const;
  Descriptor open_reader(int rank, int target) const;
  void add_stream(int rank, int target, Descriptor pipe);
  void read_troubles();

  Options options_;
  Environment inherited_;
  std::map<int, Member> members_;  // by number; streams point into it
  int next_ = 0;
  int size_;
  std::deque<output::RankStream> streams_;
  std::vector<RankExit> exits_;
  std::vector<SpawnTrouble> troubles_;
  Descriptor trouble_out_, trouble_in_;
  rlimit files_max_{};
  int alive_ = 0;
};

}  // namespace trireme::cluster::launch
