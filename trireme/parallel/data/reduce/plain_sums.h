// Sums of buckets without a codec (see bucket_sum.h).
//
//   AllReduceSum      every rank gets the whole sum
//   ReduceScatterSum  every rank gets its shard of the sum
//   WholeSum          every rank gets the whole sum and keeps its shard: for hosts with different
//                     numbers of ranks, whose shards are cut differently
//
// Bytes per rank and bucket of n bytes, on r ranks: 2 n (r-1)/r, n (r-1)/r, 2 n (r-1)/r.

#pragma once

#include <string>
#include <vector>

#include "trireme/comm/torch/tensor.h"
#include "trireme/parallel/data/reduce/bucket_sum.h"
#include "trireme/parallel/data/storage/layout.h"

namespace trireme::parallel::data {

// One collective on tensors per bucket.
class PlainSum : public BucketSum {
 public:
  bool is_done(std::size_t bucket) override { return works_[bucket].is_done(); }
  void finish(std::size_t bucket) override { works_[bucket].wait(); }
  void begin(std::int64_t) override { forget(); }
  void forget() override {
    works_.clear();
    launched_ = 0;
  }

 protected:
  void add(comm::TensorWork work) {
    works_.push_back(std::move(work));
    ++launched_;
  }
  static comm::Call label(std::size_t bucket) {
    return {.label = "bucket " + std::to_string(bucket)};
  }

 private:
  std::vector<comm::TensorWork> works_;  // by bucket
};

class AllReduceSum final : public PlainSum {
 public:
  // `op`: Sum, or Mean.
  explicit AllReduceSum(comm::Group group, comm::ReduceOp op = comm::ReduceOp::Sum)
      : group_(std::move(group)), op_(op) {}

  // If `out` is other memory than `values`, the values stay as they are.
  void launch(std::size_t bucket, const at::Tensor& values, const at::Tensor& out) override;

 private:
  comm::Group group_;
  comm::ReduceOp op_;
};

class ReduceScatterSum final : public PlainSum {
 public:
  // The plan must outlive the sum.
  ReduceScatterSum(comm::Group group, const BucketPlan& plan)
      : group_(std::move(group)), plan_(plan) {}

  void launch(std::size_t bucket, const at::Tensor& values, const at::Tensor& out) override;

 private:
  comm::Group group_;
  const BucketPlan& plan_;
};

class WholeSum final : public PlainSum {
 public:
  // The layout must outlive the sum.
  WholeSum(comm::Group group, const StorageLayout& layout)
      : group_(std::move(group)), layout_(layout) {}

  void launch(std::size_t bucket, const at::Tensor& values, const at::Tensor& out) override;
  void finish(std::size_t bucket) override;
  void forget() override;

 private:
  comm::Group group_;
  const StorageLayout& layout_;
  at::Tensor sums_;               // of all buckets
  std::vector<at::Tensor> outs_;  // by bucket
};

}  // namespace trireme::parallel::data
