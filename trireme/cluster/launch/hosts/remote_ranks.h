// RemoteRanks starts, signals and kills the ranks of a job on several hosts, through the links to
// their agents. HostedRanks records what is known about each.
//
// Errors:        see rank_control.h; start_rank() throws Unreachable if no host is reachable.
// Thread safety: only the launcher's thread.
// Lifetime:      the hosts, the records and the listener must outlive it.

#pragma once

#include <memory>
#include <string>
#include <vector>

#include "trireme/cluster/launch/hosts/distribution.h"
#include "trireme/cluster/launch/hosts/hosted_ranks.h"
#include "trireme/cluster/launch/hosts/remote_host.h"
#include "trireme/cluster/launch/rank_control.h"
#include "trireme/cluster/launch/rank_listener.h"

namespace trireme::cluster::launch::hosts {

using RemoteHosts = std::vector<std::unique_ptr<RemoteHost>>;  // in the order of the host list

class RemoteRanks final : public RankControl {
 public:
  RemoteRanks(const RemoteHosts& hosts, HostedRanks& hosted_ranks)
      : hosts_(hosts), hosted_ranks_(hosted_ranks) {}
  // Call it once, before any other function that is not const.
  void begin(HostListener& listener) { listener_ = &listener; }
  std::vector<HostCapacity> capacities() const;

  bool is_ready() const override;
  int start_rank(int size, const std::vector<std::string>& arguments) override;
  void kill_rank(int rank, const std::string& why) override;
  void signal(int signal) override;
  int living() const override { return hosted_ranks_.living(); }
  int room(int wanted) const override { return room_for(wanted, capacities()); }
  // They are unreachable until their host is up.
  void take_over(const job::WorkerList& worker_list) override;
  job::WorkerList worker_list() const override { return hosted_ranks_.worker_list(); }

 private:
  const RemoteHosts& hosts_;
  HostedRanks& hosted_ranks_;
  HostListener* listener_ = nullptr;
};

}  // namespace trireme::cluster::launch::hosts
