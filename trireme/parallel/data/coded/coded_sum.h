// CodedSum adds up the buckets of a plan over ranks, with a codec on the wire.
//
//   AllReduce      every rank sends its encoded bucket to all others and decodes the buckets of all
//                  ranks, so that all ranks get bitwise identical sums.
//   ReduceScatter  every rank encodes the shard of each other rank and sends it to that rank only.
//                  The owner of a shard adds its own values, which are not encoded.
//
// Values are added in the order of ranks. The compression error of what a rank sends is its
// residual, by parameter (error_feedback.h), which is added to the values that the rank encodes
// next. A residual of the rank's own shard (ReduceScatter), which exists if that shard belonged to
// another rank before, is added at once.
//
// If ranks hold shards of the buckets (`beside`), a codec with joint selection chooses the values
// to send among all shards of a bucket (trireme/codec/joint.h): the holders of the shards first
// exchange nominations, and encode when they have received all of them.
//
// If a step may be dropped or run again (is_undoable), new residuals count from commit() on; until
// then the same sum can be started again with another group.
//
// Bytes:                 a rank sends its encoded bucket once (ReduceScatter: without its own
//                        shard), and receives the bucket, or its shard, from each other rank.
// Errors, thread safety: as BucketSum.

#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "trireme/codec/joint.h"
#include "trireme/parallel/data/reduce/bucket_sum.h"

namespace trireme::parallel::data {

class CodedSum final : public BucketSum {
 public:
  // Which rank receives which encoded values.
  enum class Topology : std::uint8_t { AllReduce, ReduceScatter };
  // The ranks that hold shards of the same buckets; `counts`: by bucket, the sizes of their shards.
  struct Beside {
    comm::Group group;
    std::vector<std::vector<std::size_t>> counts;
  };
  struct Options {
    comm::Group group = comm::Group::solo();
    std::shared_ptr<const codec::Codec> codec;
    Topology topology = Topology::AllReduce;
    bool has_error_feedback = true;
    bool is_mean = false;  // the caller divides the sum by the number of ranks
    std::uint64_t seed = 0;
    bool is_undoable = false;             // see Residuals
    Residuals::SharedResiduals shared{};  // where other ranks find the residuals if this one dies
    std::optional<Beside> beside{};       // AllReduce only
  };
  // REQUIRES: float32 parameters, values in the order of the plan. The parameters may be
  // parts. `out` is the bucket, or this rank's shard of it.
  CodedSum(Options options, const BucketPlan& plan, const std::vector<Parameter>& parameters);

  void begin(std::int64_t step) override;
  void launch(std::size_t bucket, const at::Tensor& values, const at::Tensor& out) override {
    launch(bucket, values, out, {});
  }
  // The sum replaces the values.
  void launch(std::size_t bucket, const at::Tensor& values) { launch(bucket, values, values); }
  // Encodes the values when `written` is done. REQUIRES: not `beside`.
  void launch(std::size_t bucket, const at::Tensor& values, const at::Tensor& out,
              comm::Work written);
  // Encodes all launched buckets. With joint selection it waits for the nominations of other ranks.
  void encode_launched();
  bool is_done(std::size_t bucket) override;
  void finish(std::size_t bucket) override;
  void forget() override;
  void regroup(const Members& members) override;
  ErrorFeedback* feedback() override { return &feedback_; }

 private:
  // Values of a bucket that are encoded together: all of them, or those of one rank's shard.
  struct Message {
    ElementRange range;  // in the plan
    std::vector<codec::BucketPart> parts{};
    std::vector<std::optional<std::size_t>> wholes{};  // by part: the parameter, if it is whole
    std::size_t size_max = 0;                          // maximum bytes when encoded
  };
  // The state of a bucket in flight.
  struct Passage {
    std::vector<Message> messages{};  // AllReduce: one; ReduceScatter: by rank
    // Of joint selection:
    std::size_t picked = 0;             // how many values of all shards are sent
    std::vector<std::size_t> voters{};  // by rank of `beside`: its number of nominations
    std::vector<float> nominated{};     // of this rank's shard
    std::vector<float> nominations{};   // of all shards
    std::vector<float> own{};           // ReduceScatter: of this rank's shard, with the residual
    Bytes sent{};
    Bytes received{};
    std::vector<std::size_t> sizes_sent{};      // by message; 0: the rank's own shard
    std::vector<std::size_t> sizes_received{};  // by rank
    comm::Work ready{};                         // until the values can be encoded
    comm::Work telling{};
    comm::Work moving{};
    at::Tensor values{};
    at::Tensor out{};
  };

  Message message_of(const BucketPlan::Bucket& bucket, int rank) const;
  comm::Work nominate(std::size_t bucket);
  void encode(std::size_t bucket);
  std::size_t encode(std::size_t bucket, std::size_t message, std::span<const float> values,
                     std::span<std::byte> out);
  void keep(Passage& passage, std::span<const float> values);
  void tell_sizes(std::size_t bucket);
  void start_moving(std::size_t bucket);
  void advance();
  bool is_scattered() const { return options_.topology == Topology::ReduceScatter; }

  Options options_;
  comm::Group bytes_;  // for encoded bytes, which are not sent in the same order as sizes
  BucketPlan plan_;
  std::shared_ptr<const codec::Joint> joint_;  // null: each rank encodes its own values
  std::shared_ptr<const codec::Codec> codec_;  // joint_, or the codec of the options
  ErrorFeedback feedback_;
  std::vector<codec::BucketPart> shapes_;  // by parameter
  std::size_t own_ = 0;                    // the message that describes what this rank receives
  std::vector<Passage> passages_;          // by bucket
  std::int64_t step_ = 0;
  // The number of buckets that have reached each stage. A bucket never overtakes an earlier one.
  std::size_t encoded_ = 0;
  std::size_t moved_ = 0;  // the exchange of bytes has started
};

}  // namespace trireme::parallel::data
