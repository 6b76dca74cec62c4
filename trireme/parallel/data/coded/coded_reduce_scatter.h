// CodedReduceScatter is a reduce-scatter of the buckets of a plan with a codec on the wire.
//
// Every rank encodes the shard of each other rank and sends it to that rank only. The owner of a
// shard decodes the received values in the order of ranks and adds its own values, which are not
// encoded. The compression error of the shards that a rank sends is its residual, by parameter
// (error_feedback.h). A residual of the rank's own shard, which exists if that shard belonged to
// another rank before, is added at once.
//
// Bytes:                 a rank sends the encoded shards of all other ranks once, and receives its
//                        own shard from each of them.
// Errors, thread safety: as BucketSum.

#pragma once

#include <memory>
#include <optional>

#include "trireme/codec/codec.h"
#include "trireme/parallel/data/reduce/bucket_sum.h"

namespace trireme::parallel::data {

class CodedReduceScatter final : public BucketSum {
 public:
  struct Options {
    comm::Group group;
    std::shared_ptr<const codec::Codec> codec;
    bool has_error_feedback = true;
    std::uint64_t seed = 0;
    bool is_undoable = false;  // see Residuals
  };
  // REQUIRES: float32 parameters, values in the order of the plan; `out` is this rank's shard.
  CodedReduceScatter(Options options, const BucketPlan& plan, std::vector<Parameter> parameters);

  void begin(std::int64_t step) override;
  void launch(std::size_t bucket, const at::Tensor& values, const at::Tensor& out) override;
  std::size_t launched() const override { return launched_; }
  bool is_done(std::size_t bucket) override;
  void finish(std::size_t bucket) override;
  void forget() override;
  void regroup(const Members& members) override;
  Traffic traffic() const override { return traffic_; }
  ErrorFeedback* feedback() override { return &feedback_; }

 private:
  // A rank's shard of a bucket.
  struct Slice {
    ElementRange range;  // in the plan
    std::vector<codec::BucketPart> parts;
    std::vector<std::optional<std::size_t>> wholes;  // by part: the parameter, if it is whole
    std::size_t size_max = 0;                        // maximum bytes when encoded
  };
  // The state of a bucket in flight.
  struct Passage {
    std::vector<Slice> slices;  // by rank
    Bytes sent{};
    Bytes received{};
    std::vector<std::int64_t> sizes_sent{};
    std::vector<std::int64_t> sizes_received{};
    std::optional<comm::Work> telling{};
    std::optional<comm::Work> moving{};
    std::vector<float> own{};
    at::Tensor out{};
  };

  Slice slice_of(const BucketPlan::Bucket& bucket, int rank) const;
  std::size_t encode(std::size_t bucket, std::size_t rank, std::span<const float> values,
                     std::span<std::byte> out);
  void keep(std::size_t bucket, std::span<const float> values);
  void start_moving(std::size_t bucket);
  void advance();
  std::size_t self() const { return static_cast<std::size_t>(options_.group.rank()); }

  Options options_;
  comm::Group bytes_;  // for encoded bytes, which are not sent in the same order as sizes
  BucketPlan plan_;
  std::vector<Parameter> parameters_;
  ErrorFeedback feedback_;
  std::vector<Passage> passages_;  // by bucket
  std::int64_t step_ = 0;
  std::size_t launched_ = 0;
  std::size_t moved_ = 0;  // buckets whose exchange has started
  Traffic traffic_;
};

}  // namespace trireme::parallel::data
