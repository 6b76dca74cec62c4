// Ranks are the processes of a job on this host, with what they write.
//
// Meaning:  signals go to a rank's whole process group, except SIGUSR1 and SIGUSR2, which the
//           rank's own process alone gets: by default they would kill its children.
// Elastic:  members come and go; numbers are given in the order of starting and never again. What
//           is kept of the dead goes once they are forgotten and their output was read, so that
//           memory is bounded by who lives.
//           Its workers outlive us, and so what they write goes through named pipes in the job's
//           folder that each holds open itself: it never writes to nobody, and the launcher that
//           comes after us reads on.
// Threads:  one, the launcher's, which must live as long as the job (see spawn.h).
// Failure:  start() throws when a process cannot be made; those already started are the caller's
//           to kill. A program that cannot be executed shows as that rank's exit.

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

#include "trireme/base/descriptor.h"
#include "trireme/cluster/launch/host/cores.h"
#include "trireme/cluster/launch/job/crew.h"
#include "trireme/cluster/launch/output/rank_stream.h"
#include "trireme/cluster/launch/rank_exit.h"
#include "trireme/cluster/launch/spawn.h"
#include "trireme/cluster/launch/spec.h"

namespace trireme::cluster::launch {

// The ranks of one host, as a part of a job on several.
struct RanksPart {
  int first = 0;
  int size = 1;  // of the whole job
  std::string address{};
  std::string feed{};  // where events and metrics go
  // Of an elastic job; its workers die with us nevertheless.
  std::optional<Duration> orphan_timeout{};
  // Makes what is written to our standard output of what a rank wrote to either of its own.
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
    std::string store{};  // where it is, if not in the folder
    std::optional<RanksPart> part{};
  };

  explicit Ranks(Options options);

  // Starts as many as the job has ranks.
  void start();
  // Starts one more and returns its number: it runs on the cores that the fewest others have.
  // REQUIRES: start() came before.
  int start_more(const std::vector<std::string>& arguments_more = {});
  // The same with a number that somebody else gave it. REQUIRES: start() or prepare().
  void start_as(int rank, const std::vector<std::string>& arguments_more);
  // In place of start() where nobody is to be started yet.
  void prepare();
  void set_feed(std::string feed) { options_.part->feed = std::move(feed); }
  // How many begin together from now on, which is what TRIREME_SIZE says.
  void set_size(int size) { size_ = size; }
  // Takes over those whom a launcher that died had started, in place of start(). Some may be dead
  // by now; their ends are to be told as any.
  void adopt(const job::Crew& crew);
  // Those who live, for whoever takes over.
  std::vector<job::CrewMember> crew() const;
  int next() const noexcept { return next_; }
  // `oom_watch` explains deaths by signal 9. Null for a process that is no rank.
  const RankExit* on_reaped(pid_t pid, int status, host::OomWatch& oom_watch);
  // Whether one that lives, as far as we know, is that process.
  bool has(pid_t pid, unsigned long long start) const;
  void signal(int signal);
  // Its end was dealt with: it is no longer among exits(), and goes once its output was read.
  void forget(int rank);
  // Lets go of those who were forgotten and have nothing more to say. Ends pointers to streams.
  void release_forgotten();

  int alive() const noexcept { return alive_; }
  pid_t pid(int rank) const { return members_.at(rank).pid; }
  // Which of the plan's shares of cores it runs on.
  int share(int rank) const { return members_.at(rank).share; }
  // In the order in which the ends were seen.
  const std::vector<RankExit>& exits() const noexcept { return exits_; }
  const output::Tail& tail(int rank) const { return members_.at(rank).tail; }
  // All ranks' streams; closed ones too.
  std::deque<output::RankStream>& streams() noexcept { return streams_; }

 private:
  struct Member {
    pid_t pid = 0;
    unsigned long long start = 0;
    int share = 0;
    bool is_alive = false;
    bool is_forgotten = false;
    int signal_sent = 0;
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
