// Ranks are the processes of a job on this host, with their output.
//
// Signals:       go to a rank's whole process group, except SIGUSR1 and SIGUSR2, which only the
//                rank's own process receives, because by default they would kill its children.
// Elastic:       workers are started and end at any time. They outlive the launcher: their output
//                goes through named pipes in the job's folder that each worker also holds open
//                itself, so that writing never fails for lack of a reader, and the next launcher
//                continues reading.
// Errors:        start() throws when a process cannot be created. A program that cannot be executed
//                is reported as that rank's exit.
// Thread safety: only the launcher's thread, which must live as long as the job (see spawn.h).

#pragma once

#include <sys/types.h>

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "trireme/cluster/launch/host/cores.h"
#include "trireme/cluster/launch/output/rank_pipes.h"
#include "trireme/cluster/launch/rank/rank_records.h"
#include "trireme/cluster/launch/rank/spawn.h"
#include "trireme/cluster/launch/rank_control.h"
#include "trireme/cluster/launch/rank_listener.h"
#include "trireme/cluster/launch/spec.h"

namespace trireme::cluster::launch {

// The ranks of one host in a job on several hosts: its agent passes their output on.
struct RanksPart {
  int first = 0;
  std::string address{};
  std::function<std::string(int rank, int target, std::string_view bytes)> envelope{};
};

class Ranks final : public RankControl {
 public:
  struct Options {
    const JobSpec* spec = nullptr;
    std::string job{};
    std::filesystem::path folder{};
    host::CorePlan cores{};
    sigset_t mask{};  // for the ranks
    output::Writer* writer = nullptr;
    std::function<void(const std::string& text)> warn{};
    // Elastic jobs: how long workers continue without a launcher.
    std::optional<Duration> orphan_timeout{};
    std::optional<RanksPart> part{};
  };

  explicit Ranks(Options options);

  // Call it once, before any other function. Throws Io. `store`, `feed`: where ranks find the store
  // and send events; empty: in the folder. The listener must outlive this object.
  void begin(RankListener& listener, std::string store, std::string feed);
  // For ranks that start from now on.
  void set_feed(std::string feed) { feed_ = std::move(feed); }
  // Starts a rank whose number the caller has chosen, on the cores that the fewest other ranks use.
  void start(const RankOrder& order);

  bool is_ready() const override { return true; }
  int start_rank(int size, const std::vector<std::string>& arguments) override;
  void kill_rank(int rank, const std::string& why) override;
  void signal(int signal) override;
  int living() const override { return living_; }
  int room(int wanted) const override { return wanted; }
  void take_over(const job::WorkerList& worker_list) override;
  job::WorkerList worker_list() const override;

  // `oom_watch` explains deaths by signal 9. Returns nothing for a process that is not a rank.
  std::optional<RankExit> on_reaped(pid_t pid, int status, host::OomWatch& oom_watch);
  // Whether that process is one of the ranks believed to be alive.
  bool has(pid_t pid, unsigned long long start) const;
  pid_t pid(int rank) const { return members_.at(rank).pid; }
  // Releases the ranks whose exits were forgotten and that have no more output.
  void release_forgotten();
  RankRecords& records() noexcept { return records_; }
  const RankRecords& records() const noexcept { return records_; }

 private:
  struct Member {
    pid_t pid = 0;
    unsigned long long start = 0;
    int share = 0;
    bool is_alive = false;
    int signal_sent = 0;
    std::string killed{};  // why kill_rank() was called
  };

  void warn_of_oversubscription() const;
  int free_share() const;
  void start_process(const RankOrder& order);
  EnvironmentVariables environment_for(const RankOrder& order, int share) const;
  void read_troubles();

  Options options_;
  RankListener* listener_ = nullptr;
  std::string store_, feed_;
  EnvironmentVariables inherited_;
  std::map<int, Member> members_;  // by number
  RankRecords records_;
  const output::RankPipes pipes_;
  std::vector<SpawnTrouble> troubles_;
  output::PipeEnds trouble_pipe_;
  rlimit files_max_{};
  int living_ = 0;
  int next_ = 0;  // the number of the next rank
};

}  // namespace trireme::cluster::launch
