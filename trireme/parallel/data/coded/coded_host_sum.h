// CodedHostSum sums the buckets of a plan over hosts in an elastic job, with a codec on the wire.
// The ranks of a host hold a bucket together, in shared memory, and one of them, the leader,
// exchanges it with the leaders of other hosts.
//
//   sum.regroup(members);                 // at first, and whenever the membership changes
//   sum.launch(bucket, values, values);   // the whole bucket; this rank has written its shard
//
// A host has one residual (error_feedback.h). Its leader keeps it in memory that outlives the
// leader: the next leader takes it over, however shards are divided then. If all ranks of a host
// fail, its residual is lost.
//
// Errors, thread safety: as BucketSum. regroup() is a collective of all ranks; the other functions
//                        are collectives of the host's ranks.

#pragma once

#include <optional>
#include <set>
#include <vector>

#include "trireme/parallel/data/coded/coded_sum.h"

namespace trireme::parallel::data {

class CodedHostSum final : public BucketSum {
 public:
  // The options of the leaders' sum. Its group and the place of its residuals are those of
  // regroup(), and it is undoable. `shared`: in the host's arena; without one, the host has one
  // rank, and its residual is lost with that rank. REQUIRES: as CodedSum.
  CodedHostSum(CodedSum::Options options, const BucketPlan& plan,
               std::vector<Parameter> parameters);

  void begin(std::int64_t step) override;
  void launch(std::size_t bucket, const at::Tensor& values, const at::Tensor& out) override;
  bool is_done(std::size_t bucket) override;
  void finish(std::size_t bucket) override;
  void forget() override;
  void regroup(const Members& members) override;
  ErrorFeedback* feedback() override { return own_ ? own_->feedback() : nullptr; }

 private:
  // The leader of a host: its rank and place, and the places of all possible previous leaders.
  struct Leader {
    int rank = 0;
    int place = 0;
    std::set<int> before;
  };
  Leader choose_leader(const Members& members) const;
  void take_over(const Members& members, const comm::Group& leaders, const std::set<int>& before);

  CodedSum::Options options_;
  BucketPlan plan_;
  std::vector<Parameter> parameters_;
  // The host's ranks once more, for broadcasts and barriers: operations of one group need the same
  // order on all ranks, and these are not ordered with the reductions.
  comm::Group host_group_ = comm::Group::solo();
  int leader_rank_ = 0;          // the leader's rank in host_group_
  int leader_place_ = -1;        // the leader's place; -1: not known
  std::optional<CodedSum> own_;  // on the leader only
  // Of the other ranks, by bucket: until all ranks of the host have written their shards.
  std::vector<comm::Work> written_;
  std::int64_t step_ = 0;
};

}  // namespace trireme::parallel::data
