#include "trireme/cluster/launch/hosts/hosted_ranks.h"

#include <unistd.h>

#include <algorithm>

namespace trireme::cluster::launch::hosts {

void HostedRanks::add(int rank, std::size_t host, bool is_continued) {
  next_ = std::max(next_, rank + 1);
  records_.open(rank, is_continued);
  for (const int target : {STDOUT_FILENO, STDERR_FILENO}) records_.add_stream(rank, target);
  members_[rank].host = host;
}

bool HostedRanks::has(int rank, std::size_t host) const {
  const auto found = members_.find(rank);
  return found != members_.end() && found->second.is_alive && found->second.host == host;
}

std::vector<int> HostedRanks::at(std::size_t host) const {
  std::vector<int> ranks;
  for (const auto& [rank, member] : members_) {
    if (member.is_alive && member.host == host) ranks.push_back(rank);
  }
  return ranks;
}

RankExit HostedRanks::end(RankExit exit) {
  Member& member = members_.at(exit.rank);
  member.is_alive = false;
  exit.killed = member.killed;
  records_.add_exit(exit);
  return exit;
}

void HostedRanks::release_forgotten() {
  for (const int rank : records_.release_forgotten()) members_.erase(rank);
}

int HostedRanks::living() const {
  return static_cast<int>(std::count_if(members_.begin(), members_.end(), [](const auto& entry) {
    return entry.second.is_alive && entry.second.is_reachable;
  }));
}

std::vector<int> HostedRanks::living_by_host(std::size_t hosts) const {
  std::vector<int> counts(hosts, 0);
  for (const auto& [rank, member] : members_) {
    if (member.is_alive && member.is_reachable) ++counts.at(member.host);
  }
  return counts;
}

job::WorkerList HostedRanks::worker_list() const {
  job::WorkerList list{.next = next_};
  for (const auto& [rank, member] : members_) {
    if (!member.is_alive) continue;
    list.members.push_back({.worker = rank, .share = static_cast<int>(member.host)});
  }
  return list;
}

}  // namespace trireme::cluster::launch::hosts
