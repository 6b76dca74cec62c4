// GradientBuckets collects a rank's gradients in buckets while backward computes them.
//
//   buckets.begin_micro_batch({.is_first = true, .is_last = true});
//   ... each gradient: buckets.take(parameter)     // copied once, then its tensor is freed
//   buckets.end_micro_batch();
//
// `full` is called for a bucket when the last micro-batch has produced all its gradients. Buckets
// are announced in the order of the plan on every rank, independent of the order in which gradients
// arrive. A gradient that never arrives counts as zero, and its parameter is not used.
//
// Errors:        what `allocate` throws.
// Thread safety: the thread that runs backward.
// Lifetime:      the plan must outlive it.

#pragma once

#include <ATen/core/Tensor.h>

#include <functional>
#include <vector>

#include "trireme/parallel/data/plan/bucket_plan.h"
#include "trireme/parallel/parameter.h"
#include "trireme/parallel/pending_rows.h"

namespace trireme::parallel::data {

class GradientBuckets {
 public:
  struct Slot {
    bool is_first = true;  // of this rank's micro-batches in the step
    bool is_last = true;
    bool is_alone = false;  // its gradients are not added to those of other micro-batches
  };

  struct Options {
    // A flat tensor of plan.count elements. If undefined, a bucket's memory is allocated when its
    // first gradient arrives, and freed by release().
    at::Tensor memory{};
    std::function<at::Tensor(std::int64_t count)> allocate{};  // returns zeros
    std::function<void(std::size_t bucket)> full;
    // A gradient may arrive in several parts; buckets are then full at the end of the micro-batch.
    bool is_in_parts = false;
  };
  // take() finds the gradients in Tensor::grad().
  GradientBuckets(const BucketPlan& plan, const std::vector<Parameter>& parameters,
                  Options options);

  void begin_micro_batch(const Slot& micro_batch);
  // Memory to which a layer may write the gradient directly, before take(). Undefined if the
  // gradient must be added to an earlier one, and from the second call on.
  at::Tensor lend(std::size_t parameter);
  // take() will add these rows to the gradient. False, and nothing happens, if its memory was not
  // lent or its gradient has already arrived.
  bool add_rows(std::size_t parameter, at::Tensor rows, at::Tensor values);
  void take(std::size_t parameter);
  // Fills gradients that did not arrive with zeros. After the last micro-batch it announces the
  // remaining buckets.
  void end_micro_batch();

  bool is_used(std::size_t parameter) const { return is_used_[parameter]; }
  // REQUIRES: one of its gradients has arrived.
  const at::Tensor& bucket(std::size_t index) const { return buckets_[index]; }
  // The content of the bucket is no longer needed in this step.
  void release(std::size_t index);
  const at::Tensor& memory() const noexcept { return options_.memory; }

 private:
  void announce();
  at::Tensor view_of(std::size_t parameter);
  at::Tensor memory_for(std::size_t bucket);

  const BucketPlan& plan_;
  std::vector<at::Tensor> parameters_;
  Options options_;
  std::vector<at::Tensor> buckets_;  // undefined: not allocated, or released
  std::vector<at::Tensor> spares_;   // released memory, for buckets of the same size
  Slot micro_batch_;
  std::vector<bool> is_used_;   // in this step
  std::vector<bool> has_come_;  // in this micro-batch
  std::vector<bool> is_lent_;   // in this micro-batch
  PendingRows rows_;
  std::vector<std::size_t> missing_;  // in this micro-batch, by bucket
  std::size_t announced_ = 0;
};

}  // namespace trireme::parallel::data
