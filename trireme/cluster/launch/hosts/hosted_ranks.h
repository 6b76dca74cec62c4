// HostedRanks is the ranks of a job on several hosts as its launcher knows them: where each runs,
// its output and how it ended.
//
// Unreachable:   a rank on a lost host may be alive or not; it counts as alive again, or as ended,
//                once that is known.
// Bounds:        of the ranks whose end was forgotten, the last kForgottenMax are kept, because
//                their output may still be in flight.
// Errors:        add() throws Io if the rank's log cannot be opened.
// Thread safety: only the launcher's thread.

#pragma once

#include <cstddef>
#include <deque>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "trireme/base/file/descriptor.h"
#include "trireme/cluster/launch/hosts/protocol/order.h"
#include "trireme/cluster/launch/job/worker_list.h"
#include "trireme/cluster/launch/output/rank_stream.h"
#include "trireme/cluster/launch/rank/rank_exit.h"

namespace trireme::cluster::launch::hosts {

class HostedRanks {
 public:
  static constexpr std::size_t kForgottenMax = 256;

  // `output`: the folder for the ranks' logs; empty: no logs. The writer must outlive this object.
  HostedRanks(std::filesystem::path output, output::Writer& writer)
      : output_(std::move(output)), writer_(writer) {}

  // A rank that will run on this host; `is_continued`: an earlier launcher had started it.
  void add(int rank, std::size_t host, bool is_continued = false);
  // The launcher kills it alone; `why` describes its end.
  void set_killed(int rank, std::string why) { members_.at(rank).killed = std::move(why); }
  bool knows(int rank) const { return members_.contains(rank); }
  // The host that the rank runs on.
  std::size_t host_of(int rank) const { return members_.at(rank).host; }
  // Whether the rank runs on this host, as far as known.
  bool has(int rank, std::size_t host) const;
  std::vector<int> at(std::size_t host) const;

  void set_reachable(int rank, bool is_reachable) { members_.at(rank).is_reachable = is_reachable; }
  bool is_reachable(int rank) const { return members_.at(rank).is_reachable; }

  // Output of a rank; dropped if the rank is no longer known.
  void hear(const OutputPiece& piece);
  // Returns the exit, completed with why the launcher killed the rank, if it did.
  RankExit end(RankExit exit);
  // Writes out last lines that had no newline. Returns errno of the first log that failed, or 0.
  int finish();

  // The ranks that are alive and reachable; in total, and on each host.
  int living() const;
  std::vector<int> living_by_host(std::size_t hosts) const;
  // In the order in which the ends were seen.
  const std::vector<RankExit>& exits() const noexcept { return exits_; }
  void forget_exits();
  const output::Tail& tail(int rank) const { return members_.at(rank).tail; }
  // The ranks that are alive or may be; `share` is the host.
  std::vector<job::WorkerEntry> worker_list() const;

 private:
  struct Member {
    std::size_t host = 0;
    bool is_alive = true;
    bool is_reachable = true;
    std::string killed{};
    output::Tail tail{};
    Descriptor log{};
    std::map<int, output::RankStream> streams{};  // by target
  };

  std::filesystem::path output_;
  output::Writer& writer_;
  std::map<int, Member> members_;
  std::vector<RankExit> exits_;
  std::deque<int> forgotten_;
};

}  // namespace trireme::cluster::launch::hosts
