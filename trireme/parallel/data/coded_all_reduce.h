// CodedAllReduce adds up what all ranks have in the buckets of a plan, as the bytes that a codec
// makes, and gives all of them all of it (see coded_sum.h).
//
// Every rank sends its bytes to all others, decodes everybody's in the order of ranks and adds them
// up, so that all come to the same bits. What a rank lost of its own is its residual, by parameter
// (feedback.h): it is added to what the rank encodes next.
//
// Where ranks hold slices of the buckets (beside), a codec that can chooses among all of them what
// is sent (trireme/codec/joint.h): the holders of a bucket's slices tell each other what they
// nominate, and encode when they have heard all.
//
// Where ranks come and go (is_elastic), residuals count from commit() on; until then the same sum
// can be begun again, with another group.
//
// Bytes: a rank sends its encoded bucket once and receives those of all others.

#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "trireme/codec/joint.h"
#include "trireme/parallel/data/bucket_sum.h"

namespace trireme::parallel::data {

class CodedAllReduce final : public BucketSum {
 public:
  // Those who hold slices of the same buckets: their group, and by bucket how much each holds.
  struct Beside {
    comm::Group group;
    std::vector<std::vector<std::size_t>> counts;
  };
  struct Options {
    comm::Group group;
    std::shared_ptr<const codec::Codec> codec;
    bool has_error_feedback = true;
    bool is_mean = false;  // what it adds up is divided by the number of ranks
    std::uint64_t seed = 0;
    bool is_elastic = false;
    Residuals::SharedResiduals shared{};  // where others find residuals when this rank is dead
    std::optional<Beside> beside{};
  };
  // REQUIRES: parameters are float32; values lie as the plan says. `parts`: see ErrorFeedback.
  CodedAllReduce(Options options, const BucketPlan& plan, const std::vector<Parameter>& parameters,
                 std::vector<checkpoint::Piece> parts = {});

  void begin(std::int64_t step) override;
  void launch(std::size_t bucket, const at::Tensor& values, const at::Tensor& out) override;
  // The sum takes the place of the values.
  void launch(std::size_t bucket, const at::Tensor& values) { launch(bucket, values, values); }
  // Waits for what others nominate, where there is something to choose.
  void encode_launched();
  std::size_t launched() const override { return launched_; }
  bool is_done(std::size_t bucket) override;
  void finish(std::size_t bucket) override;
  void forget() override;
  void regroup(const Members& members) override;
  Traffic traffic() const override { return traffic_; }
  ErrorFeedback* feedback() override { return &feedback_; }

 private:
  // A bucket's way: its bytes, those of all, and where they are to become values.
  struct Passage {
    std::vector<codec::Part> parts;
    std::vector<float> nominated{};     // of this rank's slice
    std::vector<float> nominations{};   // of all slices
    std::vector<std::size_t> voters{};  // how many of them are whose
    Bytes mine{};
    Bytes all{};
    std::int64_t size = 0;              // of mine
    std::vector<std::int64_t> sizes{};  // of everybody's
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
  comm::Group bytes_;  // sizes and bytes are not in one order
  BucketPlan plan_;
  std::shared_ptr<const codec::Joint> joint_;  // null: each encodes what it has
  std::shared_ptr<const codec::Codec> codec_;  // that one, or the one of the options
  ErrorFeedback feedback_;
  std::vector<Passage> passages_;  // by bucket
  std::int64_t step_ = 0;
  // Buckets that have come so far, each no further than the one before.
  std::size_t launched_ = 0;
  std::size_t encoded_ = 0;
  std::size_t gathered_ = 0;  // on their way, at least
  Traffic traffic_;
};

}  // namespace trireme::parallel::data
