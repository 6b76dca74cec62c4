// CodedReduceScatter adds up what all ranks have in the buckets of a plan and gives each rank its
// slice of the sum, as the bytes that a codec makes: a reduce-scatter (see coded_sum.h).
//
// Every rank encodes each other rank's slice and sends it there alone. Whoever has a slice decodes
// what comes in the order of ranks and adds its own values, which travel nowhere, as they are. What
// a rank lost of others' slices is its residual, by parameter (feedback.h); what it owed of its own
// slice, where that was another's before, it adds at once.
//
// Bytes: a rank sends the slices of all others once, encoded, and receives its own from each.

#pragma once

#include <memory>
#include <optional>

#include "trireme/codec/codec.h"
#include "trireme/parallel/data/bucket_sum.h"

namespace trireme::parallel::data {

class CodedReduceScatter final : public BucketSum {
 public:
  struct Options {
    comm::Group group;
    std::shared_ptr<const codec::Codec> codec;
    bool has_error_feedback = true;
    std::uint64_t seed = 0;
  };
  // REQUIRES: parameters are float32; values lie as the plan says, `out` is this rank's slice.
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
  // A rank's slice of a bucket.
  struct Slice {
    ElementRange range;  // in the plan
    std::vector<codec::Part> parts;
    std::vector<std::optional<std::size_t>> wholes;  // by part: the parameter, where it is whole
    std::size_t size_max = 0;                        // encoded
  };
  // A bucket's way: what goes to all others, what comes from them, and what stays.
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
  comm::Group bytes_;  // sizes and bytes are not in one order
  BucketPlan plan_;
  std::vector<Parameter> parameters_;
  ErrorFeedback feedback_;
  std::vector<Passage> passages_;  // by bucket
  std::int64_t step_ = 0;
  std::size_t launched_ = 0;
  std::size_t moved_ = 0;  // on their way, at least
  Traffic traffic_;
};

}  // namespace trireme::parallel::data
