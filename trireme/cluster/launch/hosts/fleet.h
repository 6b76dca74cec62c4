// Fleet is the hosts of a job with their ranks, as its launcher has them: a link to each host, the
// ranks that run there, and, in an elastic job, how a lost host is reconnected.
//
// Start:         the ranks of a job start once every host is ready; a host that cannot take part
//                ends the job before anything runs.
// Loss:          the loss of a host ends a job that is not elastic. In an elastic job, the host's
//                workers are adrift: they may be alive, and are not replaced; the host is retried
//                (retry.h). Then either its agent reports which workers are alive, or the agent is
//                a new one and all workers that were there are dead. They are certainly dead after
//                orphan_timeout plus the time in which the agent notices the loss.
// End:           agents of an elastic job are told to end once no worker is left, or immediately by
//                kill(); other agents end with their last rank.
// Errors:        begin() throws what creating links throws. Later failures end the job, through
//                Ending.
// Thread safety: only the launcher's thread.
// Lifetime:      everything its options point to must outlive it.

#pragma once

#include <poll.h>
#include <sys/types.h>

#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "trireme/base/deadline.h"
#include "trireme/base/record.h"
#include "trireme/cluster/launch/ending.h"
#include "trireme/cluster/launch/hosts/distribution.h"
#include "trireme/cluster/launch/hosts/hosted_ranks.h"
#include "trireme/cluster/launch/hosts/link.h"
#include "trireme/cluster/launch/hosts/retry.h"
#include "trireme/cluster/launch/job/worker_list.h"
#include "trireme/cluster/launch/launcher.h"
#include "trireme/cluster/launch/upkeep.h"

namespace trireme::cluster::launch::hosts {

class Fleet final : public Link::Listener, public Upkeep::Workers {
 public:
  struct Options {
    const LauncherOptions* launcher = nullptr;
    Ending* ending = nullptr;
    output::Writer* writer = nullptr;
    std::function<void(std::string_view event, const Record& record)> publish;
    std::function<void()> note;  // the set of workers of an elastic job has changed
  };
  explicit Fleet(Options options);

  // Connects to every host. `upkeep`: of an elastic job. `store`, `feed`: see dispatch.h.
  void begin(Upkeep* upkeep, const std::string& store, const std::string& feed);
  // The workers of an earlier launcher, wherever they are. REQUIRES: begin() is called afterwards.
  void take_over(const job::WorkerList& worker_list);

  void add_waits(std::vector<pollfd>& waits, bool has_room) const;
  // When something is due if no other event happens.
  Deadline next() const;
  // Reads and writes without blocking, and does what is due.
  void pump();
  void on_reaped(pid_t pid, int status);

  void signal(int signal);
  // Kills all live ranks, and disconnects hosts that do not end by themselves.
  void kill();
  // Drops every host, whatever runs there.
  void clear() { hosts_.clear(); }

  bool is_running() const;
  HostedRanks& hosted_ranks() noexcept { return hosted_ranks_; }
  const HostedRanks& hosted_ranks() const noexcept { return hosted_ranks_; }
  // The number of the next worker.
  int next_worker() const noexcept { return next_; }

  void on_ready(Link& link) override;
  void on_started(Link& link, const RankStart& start) override;
  void on_output(const OutputPiece& piece) override { hosted_ranks_.hear(piece); }
  void on_ended(Link& link, RankExit exit) override;
  void on_aboard(Link& link, const std::vector<RankStart>& living) override;
  void on_words(Link& link, std::string_view line) override;

  int start_worker(const std::vector<std::string>& arguments) override;
  void kill_workers() override;
  void kill_worker(int worker, const std::string& why) override;
  void forget_exits() override { hosted_ranks_.forget_exits(); }
  int living() const override { return hosted_ranks_.living(); }
  int room(int wanted) const override { return room_for(wanted, capacities()); }
  void set_size(int size) override { size_ = size; }
  void note_workers() override { options_.note(); }

 private:
  struct Host {
    Link::Options options{};
    std::unique_ptr<Link> link{};
    // Elastic jobs only.
    Retry retry{};
    bool is_up = false;                   // its agent reported which workers are alive
    bool is_lost = false;                 // it was up, or should have come up
    std::string why{};                    // why it was lost
    std::string trouble{};                // why it is not back yet
    Deadline adrift = Deadline::never();  // after that none of its workers is alive
  };

  std::string noun() const { return upkeep_ != nullptr ? "worker" : "rank"; }
  // The end of the job was not requested, and it has not ended.
  bool is_going_on() const { return !options_.ending->has_begun() && !is_ended_; }
  std::vector<HostCapacity> capacities() const;
  void for_each_link(const std::function<void(Link&)>& act);
  void keep_time();
  void keep_up();
  void start_first();
  void end_agents();
  void try_again(Host& host);
  void welcome(std::size_t number, const RankStart& start);
  void take_end(const RankExit& seen);
  void lose_worker(const Host& host, int worker);
  void end_adrift(Host& host);
  void on_over(Host& host);
  void on_lost(Host& host, const std::string& why);
  void on_unusable(const Host& host, const std::string& why);
  void give_up(Host& host, int left);

  Options options_;
  const JobSpec& spec_;
  Upkeep* upkeep_ = nullptr;  // null: the job is not elastic
  HostedRanks hosted_ranks_;
  std::vector<Host> hosts_;
  std::size_t ready_ = 0;
  Deadline beat_ = Deadline::after(kBeatTime);
  Deadline mercy_ = Deadline::never();  // after that connections are cut
  bool has_begun_ = false;              // every host was told to go
  // Elastic jobs only.
  int next_ = 0;              // the number of the next worker
  int size_;                  // how many workers start together
  bool has_started_ = false;  // the first workers
  bool is_ended_ = false;     // no more workers are started
};

}  // namespace trireme::cluster::launch::hosts
