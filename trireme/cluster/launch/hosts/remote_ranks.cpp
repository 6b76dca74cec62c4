#include "trireme/cluster/launch/hosts/remote_ranks.h"

#include <algorithm>

#include "trireme/base/error.h"

namespace trireme::cluster::launch::hosts {

std::vector<HostCapacity> RemoteRanks::capacities() const {
  const std::vector<int> living = hosted_ranks_.living_by_host(hosts_.size());
  std::vector<HostCapacity> all;
  for (const auto& host : hosts_) {
    all.push_back({.ranks = host->ranks(),
                   .living = living[host->number()],
                   .is_up = host->is_up(),
                   .is_given_up = host->is_given_up()});
  }
  return all;
}

bool RemoteRanks::is_ready() const {
  const auto is_settled = [](const auto& host) { return host->is_up() || host->is_lost(); };
  return !hosts_.empty() && std::ranges::all_of(hosts_, is_settled);
}

int RemoteRanks::start_rank(int size, const std::vector<std::string>& arguments) {
  const auto number = next_host(listener_->wanted(), capacities());
  if (!number) throw Error(ErrorCode::Unreachable, "no host is reachable");
  const int rank = hosted_ranks_.next();
  hosted_ranks_.add(rank, *number);
  hosts_[*number]->link()->start_rank({.rank = rank, .size = size, .arguments = arguments});
  return rank;
}

void RemoteRanks::kill_rank(int rank, const std::string& why) {
  // An earlier launcher may have died before it recorded the rank.
  if (!hosted_ranks_.knows(rank)) return;
  const RemoteHost& host = *hosts_[hosted_ranks_.host_of(rank)];
  if (!host.is_up()) return;
  hosted_ranks_.set_killed(rank, why);
  host.link()->kill_rank(rank);
}

void RemoteRanks::signal(int signal) {
  for (const auto& host : hosts_) {
    if (host->is_up()) host->link()->signal(signal);
  }
}

void RemoteRanks::take_over(const job::WorkerList& worker_list) {
  hosted_ranks_.set_next(worker_list.next);
  for (const job::WorkerEntry& member : worker_list.members) {
    hosted_ranks_.add(member.worker, static_cast<std::size_t>(member.share), true);
    hosted_ranks_.set_reachable(member.worker, false);
  }
  for (const job::WorkerEntry& member : worker_list.members) {
    listener_->on_unreachable(member.worker);
  }
}

}  // namespace trireme::cluster::launch::hosts
