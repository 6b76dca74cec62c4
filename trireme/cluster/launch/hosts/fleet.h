// Fleet is the hosts of a job on several: a RemoteHost for each. It hears what their agents report
// about the ranks there, and what follows when a host is lost. RemoteRanks controls the ranks.
//
// Start:         ranks start once every host is ready; a host that cannot take part ends the job
//                before anything runs.
// Loss:          the loss of a host ends a job that is not elastic. In an elastic job, the host's
//                workers become unreachable: they may be alive, and are not replaced; the host is
//                tried again. Then either its agent reports which workers are alive, or the agent
//                is a new one and all workers that were there are dead.
// End:           agents are told to end by end(); one that does not answer is disconnected.
// Errors:        begin() throws what creating links throws. Later failures end the job, through
//                Ending.
// Thread safety: only the launcher's thread.
// Lifetime:      everything its options point to must outlive it.

#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "trireme/cluster/launch/ending.h"
#include "trireme/cluster/launch/hosts/hosted_ranks.h"
#include "trireme/cluster/launch/hosts/remote_host.h"
#include "trireme/cluster/launch/hosts/remote_ranks.h"
#include "trireme/cluster/launch/job_hosts.h"
#include "trireme/cluster/launch/launcher.h"

namespace trireme::cluster::launch::hosts {

class Fleet final : public JobHosts, public HostLink::Listener {
 public:
  struct Options {
    const LauncherOptions* launcher = nullptr;
    Ending* ending = nullptr;
    output::Writer* writer = nullptr;
    std::function<void(std::string_view event, const Record& record)> publish;
  };
  explicit Fleet(Options options);

  void begin(HostListener& listener, const std::string& store, const std::string& feed) override;
  RankControl& ranks() override { return ranks_; }
  RankRecords& records() override { return hosted_ranks_.records(); }
  Deadline add_waits(std::vector<pollfd>& waits, bool has_room) const override;
  void pump(std::span<const pollfd> waits) override;
  void on_reaped(pid_t pid, int status) override;
  void end() override;
  bool is_running() const override;

 private:
  void on_started(HostLink& link, const RankStart& start) override;
  void on_output(const OutputPiece& piece) override {
    hosted_ranks_.records().feed(piece.rank, piece.target, piece.bytes);
  }
  void on_ended(HostLink& link, RankExit exit) override;
  void on_living(HostLink& link, const std::vector<RankStart>& living) override;
  void on_words(HostLink& link, std::string_view line) override;

  // The end of the job was not requested, and it has not ended.
  bool is_going_on() const { return !options_.ending->has_begun() && !is_ended_; }
  void for_each_link(const std::function<void(HostLink&)>& act);
  void keep_time();
  void connect_again(RemoteHost& host);
  void on_found(std::size_t number, int rank);
  void on_over(RemoteHost& host);
  void on_lost(RemoteHost& host, const std::string& why);
  void on_unusable(const RemoteHost& host);
  void lose_ranks(const RemoteHost& host, const std::vector<int>& ranks);
  void end_rank(const RankExit& exit);

  Options options_;
  const JobSpec& spec_;
  HostListener* listener_ = nullptr;
  HostedRanks hosted_ranks_;
  RemoteHosts hosts_;
  RemoteRanks ranks_{hosts_, hosted_ranks_};
  Deadline beat_ = Deadline::after(kBeatTime);
  Deadline cut_ = Deadline::never();  // when the connections are cut
  bool is_ended_ = false;
};

}  // namespace trireme::cluster::launch::hosts
