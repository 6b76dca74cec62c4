#include "trireme/cluster/launch/hosts/hosted_ranks.h"

#include <unistd.h>

#include <algorithm>
#include <utility>

#include "trireme/base/clock.h"
#include "trireme/base/terminal.h"

namespace trireme::cluster::launch::hosts {

void HostedRanks::add(int rank, std::size_t host, bool is_continued) {
  Descriptor log = output::open_log(output_, rank, is_continued);
  Member& member = members_[rank];
  member.host = host;
  member.log = std::move(log);
  for (const int target : {STDOUT_FILENO, STDERR_FILENO}) {
    member.streams.try_emplace(target,
                               output::RankStream::Options{
                                   .rank = rank,
                                   .pipe = {},
                                   .target = target,
                                   .prefix = output::prefix_of(rank, terminal_at(target).has_color),
                                   .is_terminal = isatty(target) == 1,
                                   .tail = &member.tail,
                                   .log = member.log.get()});
  }
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

void HostedRanks::hear(const OutputPiece& piece) {
  const auto found = members_.find(piece.rank);
  if (found == members_.end()) return;
  const auto stream = found->second.streams.find(piece.target);
  if (stream == found->second.streams.end()) return;
  stream->second.feed(piece.bytes, steady_clock().now(), writer_);
}

RankExit HostedRanks::end(RankExit exit) {
  Member& member = members_.at(exit.rank);
  member.is_alive = false;
  exit.killed = member.killed;
  return exits_.emplace_back(std::move(exit));
}

int HostedRanks::finish() {
  int error = 0;
  for (auto& [rank, member] : members_) {
    for (auto& [target, stream] : member.streams) {
      stream.end(writer_);
      if (error == 0) error = stream.log_error();
    }
  }
  return error;
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

void HostedRanks::forget_exits() {
  for (const RankExit& exit : exits_) forgotten_.push_back(exit.rank);
  exits_.clear();
  for (; forgotten_.size() > kForgottenMax; forgotten_.pop_front()) {
    const auto found = members_.find(forgotten_.front());
    if (found == members_.end()) continue;
    for (auto& [target, stream] : found->second.streams) stream.end(writer_);
    members_.erase(found);
  }
}

std::vector<job::WorkerEntry> HostedRanks::worker_list() const {
  std::vector<job::WorkerEntry> all;
  for (const auto& [rank, member] : members_) {
    if (!member.is_alive) continue;
    all.push_back({.worker = rank, .share = static_cast<int>(member.host)});
  }
  return all;
}

}  // namespace trireme::cluster::launch::hosts
