// CodedHostSum sums the buckets of a plan over hosts in an elastic job, with a codec on the wire.
// The ranks of a host hold a bucket together, in shared memory, and one of them, the speaker,
// exchanges it with the speakers of other hosts.
//
//   sum.regroup(members);                 // at first, and whenever the membership changes
//   sum.launch(bucket, values, values);   // the whole bucket; this rank has written its shard
//
// A host has one residual (error_feedback.h). Its speaker keeps it in memory that outlives the
// speaker: the next speaker takes it over, however shards are divided then. If all ranks of a host
// fail, its residual is lost.
//
// Errors, thread safety: as BucketSum. regroup() is a collective of all ranks; the other functions
//                        are collectives of the host's ranks.

#pragma once

#include <memory>
#include <optional>
#include <set>
#include <vector>

#include "trireme/parallel/data/coded/coded_all_reduce.h"
#include "trireme/parallel/data/reduce/bucket_sum.h"

namespace trireme::parallel::data {

class CodedHostSum final : public BucketSum {
 public:
  struct Options {
    std::shared_ptr<const codec::Codec> codec;
    bool has_error_feedback = true;
    std::uint64_t seed = 0;
    // The host's arena. Null: the host has one rank, and its residual is lost with that rank.
    std::shared_ptr<comm::Arena> arena{};
    std::uint64_t key = 0;  // of the residuals in the arena
  };
  // REQUIRES: as CodedAllReduce.
  CodedHostSum(Options options, const BucketPlan& plan, std::vector<Parameter> parameters);

  void begin(std::int64_t step) override;
  void launch(std::size_t bucket, const at::Tensor& values, const at::Tensor& out) override;
  std::size_t launched() const override { return launched_; }
  bool is_done(std::size_t bucket) override;
  void finish(std::size_t bucket) override;
  void forget() override;
  void regroup(const Members& members) override;
  Traffic traffic() const override { return traffic_; }
  ErrorFeedback* feedback() override { return own_ ? own_->feedback() : nullptr; }

 private:
  struct Passage {
    std::optional<comm::Work> filling{};  // until all ranks of the host have written their shards
    at::Tensor values{};
    at::Tensor out{};
  };

  // The speaker of a host: its rank and place, and the places of all possible previous speakers.
  struct Speaker {
    int rank = 0;
    int place = 0;
    std::set<int> before;
  };
  Speaker choose_speaker(const Members& members) const;
  void take_over(const Members& members, const comm::Group& speakers, const std::set<int>& before);
  void open_next();
  void advance();

  Options options_;
  BucketPlan plan_;
  std::vector<Parameter> parameters_;
  // The host's ranks once more, for broadcasts and barriers: operations of one group need the same
  // order on all ranks, and these are not ordered with the reductions.
  comm::Group doorway_ = comm::Group::solo();
  int speaking_ = 0;                   // the speaker's rank in doorway_
  int speaker_ = -1;                   // the speaker's place; -1: not known
  std::optional<CodedAllReduce> own_;  // on the speaker only
  std::vector<Passage> passages_;      // by bucket
  std::int64_t step_ = 0;
  std::size_t launched_ = 0;
  std::size_t opened_ = 0;  // buckets that are complete on this host
  Traffic traffic_;
};

}  // namespace trireme::parallel::data
