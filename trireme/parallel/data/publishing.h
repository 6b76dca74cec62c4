// Publishing is the way of new values to all ranks, bucket by bucket. The next forward pass waits
// at each block for the buckets that the block reads, and for no more.
//
// Threads: the one that runs the passes.
// Failure: what Group throws.

#pragma once

#include <cstddef>
#include <memory>
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

  // Whether blocks wait for themselves. Otherwise somebody calls finish() before they run.
  bool is_gate() const noexcept { return !needs_.empty(); }

  using Work = std::variant<std::monostate, comm::Work, comm::TensorWork>;
  // REQUIRES: the bucket's last one is finished.
  void add(std::size_t bucket, Work work) { works_.at(bucket) = std::move(work); }
  void finish();
  // What is in flight belongs to a group that is no more.
  void forget();

  void reach(std::size_t block, model::Pass pass) override;
  bool wants_backward() const override { return false; }
  // Seconds in reach(), so far.
  double waited() const noexcept { return waited_; }

 private:
  void finish(std::size_t bucket);

  std::vector<Work> works_;  // by bucket
  std::vector<std::vector<std::size_t>> needs_;
  double waited_ = 0;
};

}  // namespace trireme::parallel::data
