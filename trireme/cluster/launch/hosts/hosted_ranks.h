// HostedRanks is the ranks of a job on several hosts as its launcher knows them: where each runs,
// whether it is alive, its output and how it ended.
//
// Unreachable:   a rank on a lost host may be alive or not; it counts as alive again, or as ended,
//                once that is known.
// Errors:        add() throws Io if the rank's log cannot be opened.
// Thread safety: only the launcher's thread.

#pragma once

#include <cstddef>
#include <filesystem>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "trireme/cluster/launch/job/worker_list.h"
#include "trireme/cluster/launch/output/writer.h"
#include "trireme/cluster/launch/rank/rank_exit.h"
#include "trireme/cluster/launch/rank/rank_records.h"

namespace trireme::cluster::launch::hosts {

class HostedRanks {
 public:
  static constexpr std::size_t kForgottenMax = 256;  // see RankRecords

  // `output`: the folder for the ranks' logs; empty: no logs. The writer must outlive this object.
  HostedRanks(std::filesystem::path output, output::Writer& writer)
      : records_({.folder = std::move(output), .writer = &writer, .forgotten_max = kForgottenMax}) {
  }

  // The number of the next rank.
  int next() const noexcept { return next_; }
  void set_next(int rank) { next_ = rank; }
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

  // Returns the exit, completed with why the launcher killed the rank, if it did.
  RankExit end(RankExit exit);
  void release_forgotten();

  // The ranks that are alive and reachable; in total, and on each host.
  int living() const;
  std::vector<int> living_by_host(std::size_t hosts) const;
  RankRecords& records() noexcept { return records_; }
  // The ranks that are alive or may be; `share` is the host.
  job::WorkerList worker_list() const;

 private:
  struct Member {
    std::size_t host = 0;
    bool is_alive = true;
    bool is_reachable = true;
    std::string killed{};
  };

  RankRecords records_;
  std::map<int, Member> members_;
  int next_ = 0;
};

}  // namespace trireme::cluster::launch::hosts
