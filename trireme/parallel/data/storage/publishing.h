// Publishing holds the collectives in flight that send updated values to all ranks, bucket by
// bucket. In the next forward pass each block waits only for the buckets that it reads.
//
// Errors:        what Group throws.
// Thread safety: the thread that runs the passes.

#pragma once

#include <cstddef>
#include <variant>
#include <vector>

#include "trireme/comm/torch/tensor.h"
#include "trireme/comm/work.h"
#include "trireme/model/gate.h"

namespace trireme::parallel::data {

class Publishing final : public model::Gate {
 public:
  // `needs` by block: the buckets that it reads.
  explicit Publishing(std::size_t buckets, std::vector<std::vector<std::size_t>> needs = {})
      : works_(buckets), needs_(std::move(needs)) {}

  // Whether blocks wait for their own buckets. Otherwise the caller must finish() before a pass.
  bool is_gate() const noexcept { return !needs_.empty(); }

  using Work = std::variant<std::monostate, comm::Work, comm::TensorWork>;
  // REQUIRES: the previous collective of the bucket is finished.
  void add(std::size_t bucket, Work work) { works_.at(bucket) = std::move(work); }
  void finish();
  // Gives up everything in flight: its group is no longer used.
  void forget();

  void reach(std::size_t block, model::PassDirection pass) override;
  bool wants_backward() const override { return false; }
  // Seconds that reach() has waited, in total.
  double waited() const noexcept { return waited_; }

 private:
  void finish(std::size_t bucket);

  std::vector<Work> works_;  // by bucket
  std::vector<std::vector<std::size_t>> needs_;
  double waited_ = 0;
};

}  // namespace trireme::parallel::data
