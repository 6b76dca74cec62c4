// CodedAllReduce is an all-reduce of the buckets of a plan with a codec on the wire.
//
// Every rank sends its encoded bucket to all others, decodes the buckets of all ranks in the order
// of ranks and adds them up, so that all ranks get bitwise identical sums. The compression error of
// a rank is its residual, by parameter (error_feedback.h), which is added to the values that the
// rank encodes next.
//
// If ranks hold shards of the buckets (`beside`), a codec with joint selection chooses the values
// to send among all shards of a bucket (trireme/codec/joint.h): the holders of the shards first
// exchange nominations, and encode when they have received all of them.
//
// If a step may be dropped or run again (is_undoable), new residuals count from commit() on; until
// then the same sum can be started again with another group.
//
// Bytes:                 a rank sends its encoded bucket once and receives those of all others.
// Errors, thread safety: as BucketSum.

#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "trireme/codec/joint.h"
#include "trireme/parallel/data/reduce/bucket_sum.h"

namespace trireme::parallel::data {

class CodedAllReduce final : public BucketSum {
 public:
  // The ranks that hold shards of the same buckets; `counts`: by bucket, the sizes of their shards.
  struct Beside {
    comm::Group group;
    std::vector<std::vector<std::size_t>> counts;
  };
  struct Options {
    comm::Group group;
    std::shared_ptr<const codec::Codec> codec;
    bool has_error_feedback = true;
    bool is_mean = false;  // the caller divides the sum by the number of ranks
    std::uint64_t seed = 0;
    bool is_undoable = false;
    Residuals::SharedResiduals shared{};  // where other ranks find the residuals if this one dies
    std::optional<Beside> beside{};
  };
  // REQUIRES: float32 parameters, values in the order of the plan. The parameters may be
  // parts.
  CodedAllReduce(Options options, const BucketPlan& plan, const std::vector<Parameter>& parameters);

  void begin(std::int64_t step) override;
  void launch(std::size_t bucket, const at::Tensor& values, const at::Tensor& out) override;
  // The sum replaces the values.
  void launch(std::size_t bucket, const at::Tensor& values) { launch(bucket, values, values); }
  // Encodes all launched buckets. With joint selection it waits for the nominations of other ranks.
  void encode_launched();
  std::size_t launched() const override { return launched_; }
  bool is_done(std::size_t bucket) override;
  void finish(std::size_t bucket) override;
  void forget() override;
  void regroup(const Members& members) override;
  Traffic traffic() const override { return traffic_; }
  ErrorFeedback* feedback() override { return &feedback_; }

 private:
  // The state of a bucket in flight.
  struct Passage {
    std::vector<codec::BucketPart> parts;
    std::vector<float> nominated{};     // of this rank's shard
    std::vector<float> nominations{};   // of all shards
    std::vector<std::size_t> voters{};  // by rank of `beside`: its number of nominations
    Bytes mine{};
    Bytes all{};
    std::int64_t size = 0;              // bytes of `mine`
    std::vector<std::int64_t> sizes{};  // by rank: bytes in `all`
    std::optional<comm::Work> nominating{};
    std::optional<comm::Work> telling{};
    std::optional<comm::Work> gathering{};
    at::Tensor values{};
    at::Tensor out{};
  };

  void nominate(std::size_t bucket);
  std::size_t quota_of(std::size_t bucket);
  void encode(std::size_t bucket);
  void start_gathering(std::size_t bucket);
  void advance();

  Options options_;
  comm::Group bytes_;  // for encoded bytes, which are not sent in the same order as sizes
  BucketPlan plan_;
  std::shared_ptr<const codec::Joint> joint_;  // null: each rank encodes its own values
  std::shared_ptr<const codec::Codec> codec_;  // joint_, or the codec of the options
  ErrorFeedback feedback_;
  std::vector<Passage> passages_;  // by bucket
  std::int64_t step_ = 0;
  // The number of buckets that have reached each stage. A bucket never overtakes an earlier one.
  std::size_t launched_ = 0;
  std::size_t encoded_ = 0;
  std::size_t gathered_ = 0;  // the gathering has started
  Traffic traffic_;
};

}  // namespace trireme::parallel::data
