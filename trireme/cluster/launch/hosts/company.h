// Company is the ranks of a job on several hosts as its launcher knows them: where each runs, what
// it writes and how it ended.
//
// Adrift:   a rank on a host that was lost may live or not; it counts as living again, or as ended,
//           once somebody knows.
// Bounds:   of those whose end was forgotten the kForgottenMax latest are kept: what they wrote may
//           still be on its way.
// Failure:  add() throws Io where its log cannot be opened.
// Threads:  one, the launcher's.

#pragma once

#include <sys/types.h>

#include <cstddef>
#include <deque>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "trireme/base/descriptor.h"
#include "trireme/cluster/launch/hosts/order.h"
#include "trireme/cluster/launch/job/crew.h"
#include "trireme/cluster/launch/output/rank_stream.h"
#include "trireme/cluster/launch/rank_exit.h"

namespace trireme::cluster::launch::hosts {

class Company {
 public:
  static constexpr std::size_t kForgottenMax = 256;

  // `output`: where each has a log; empty: nowhere. The writer must outlive it.
  Company(std::filesystem::path output, output::Writer& writer)
      : output_(std::move(output)), writer_(writer) {}

  // A rank that is about to run on this host; `is_continued`: a launcher before us had it.
  void add(int rank, std::size_t host, bool is_continued = false);
  void set_pid(int rank, pid_t pid) { members_.at(rank).pid = pid; }
  // Whether it runs there, as far as anybody knows.
  bool has(int rank, std::size_t host) const;
  std::vector<int> at(std::size_t host) const;
  std::vector<int> all() const;

  void set_adrift(int rank, bool is_adrift) { members_.at(rank).is_adrift = is_adrift; }
  bool is_adrift(int rank) const { return members_.at(rank).is_adrift; }

  // What a rank wrote; of one that nobody knows any more it is dropped.
  void hear(const OutputPiece& piece);
  void end(RankExit exit);
  // Writes out last lines that had no newline.
  void finish();

  // Those who are not adrift; on one host.
  int living() const;
  int living_at(std::size_t host) const;
  // In the order in which the ends were seen.
  const std::vector<RankExit>& exits() const noexcept { return exits_; }
  void forget_exits();
  const output::Tail& tail(int rank) const { return members_.at(rank).tail; }
  // Who lives, or may; the share is the host.
  std::vector<job::CrewMember> crew() const;

 private:
  struct Member {
    std::size_t host = 0;
    pid_t pid = 0;
    bool is_alive = true;
    bool is_adrift = false;
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
