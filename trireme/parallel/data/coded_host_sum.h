// CodedHostSum adds up what hosts have in the buckets of a plan, as the bytes that a codec makes
// (see coded_sum.h), where ranks come and go: the ranks of a host have a bucket together, in memory
// that they share, and one of them speaks for all.
//
//   sum.regroup(members);                    // now, and when ranks have come or gone
//   sum.launch(bucket, values, values);   // the whole bucket, of which this rank has its slice
//
// A host owes as one (feedback.h). What it owes its speaker has, in memory that outlives it: who
// speaks after it takes that over, whichever slices ranks have then. It is lost where a host is.
//
// Threads, failure: as BucketSum. regroup() is a collective of all, the rest of a host's ranks.

#pragma once

#include <memory>
#include <optional>
#include <set>
#include <vector>

#include "trireme/parallel/data/bucket_sum.h"
#include "trireme/parallel/data/coded_all_reduce.h"

namespace trireme::parallel::data {

class CodedHostSum final : public BucketSum {
 public:
  struct Options {
    std::shared_ptr<const codec::Codec> codec;
    bool has_error_feedback = true;
    std::uint64_t seed = 0;
    std::shared_ptr<comm::Arena> arena{};  // of the host; null: of one rank, which dies with it
    std::uint64_t key = 0;                 // of residuals in it
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
    std::optional<comm::Work> filling{};  // by all ranks of the host
    at::Tensor values{};
    at::Tensor out{};
  };

  // Of a host: its rank and place, and the places of all who may have spoken before.
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
  comm::Group doorway_ = comm::Group::solo();  // the host's: not in the order of its reductions
  int speaking_ = 0;                           // who speaks: its rank there
  int speaker_ = -1;                           // and its place
  std::optional<CodedAllReduce> own_;          // the speaker's
  std::vector<Passage> passages_;              // by bucket
  std::int64_t step_ = 0;
  std::size_t launched_ = 0;
  std::size_t opened_ = 0;  // filled, and from there on the speaker's
  Traffic traffic_;
};

}  // namespace trireme::parallel::data
