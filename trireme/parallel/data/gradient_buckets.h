// GradientBuckets gathers a rank's gradients, as they are born, in buckets that travel as one.
//
//   buckets.begin_micro_batch({.is_first = true, .is_last = true});
//   ... each gradient: buckets.take(parameter)     // copied once, its tensor given back
//   buckets.end_micro_batch();
//
// A bucket is announced to `full` when the last slot has brought all its gradients: in the order
// of the plan on every rank, whatever the order of their coming. What never came counts as zero
// and is not marked as used.
//
// Threads: the one that runs backward.

#pragma once

#include <ATen/core/Tensor.h>

#include <functional>
#include <vector>

#include "trireme/parallel/data/bucket_plan.h"
#include "trireme/parallel/parameter.h"
#include "trireme/parallel/pending_rows.h"

namespace trireme::parallel::data {

class GradientBuckets {
 public:
  struct Slot {
    bool is_first = true;  // of this rank's in the step
    bool is_last = true;
    bool is_alone = false;  // its gradients are not added to those of other slots
  };

  struct Options {
    // Flat, of plan.count elements. Undefined: each bucket's is taken when its first gradient
    // comes, and goes with release().
    at::Tensor memory{};
    std::function<at::Tensor(std::int64_t count)> allocate{};  // gives zeros
    std::function<void(std::size_t bucket)> full;
    // A gradient may come in several parts: buckets are full when the slot ends.
    bool is_in_parts = false;
  };
  // Parameters' gradients arrive in Tensor::grad().
  GradientBuckets(const BucketPlan& plan, const std::vector<Parameter>& parameters,
                  Options options);

  void begin_micro_batch(const Slot& micro_batch);
  // Where the gradient that take() is going to find may be written; undefined where it has to be
  // added to what is there, and for whoever asks a second time.
  at::Tensor lend(std::size_t parameter);
  // These rows of its gradient come on top of what take() is going to find, which was lent. False:
  // nothing was.
  bool add_rows(std::size_t parameter, at::Tensor rows, at::Tensor values);
  void take(std::size_t parameter);
  // Where nothing came, there are zeros. Announces what is left after the last slot.
  void end_micro_batch();

  bool is_used(std::size_t parameter) const { return is_used_[parameter]; }
  // REQUIRES: some of its gradients came.
  const at::Tensor& bucket(std::size_t index) const { return buckets_[index]; }
  // Its content is no longer needed in this step.
  void release(std::size_t index);
  const at::Tensor& memory() const noexcept { return options_.memory; }

 private:
  void announce();
  at::Tensor view_of(std::size_t parameter);
  at::Tensor memory_for(std::size_t bucket);

  const BucketPlan& plan_;
  std::vector<at::Tensor> parameters_;
  Options options_;
  std::vector<at::Tensor> buckets_;  // undefined: released
  std::vector<at::Tensor> spares_;   // released, for buckets of their size
  Slot micro_batch_;
  std::vector<bool> is_used_;   // in this step
  std::vector<bool> has_come_;  // in this slot
  std::vector<bool> is_lent_;   // in this slot
  PendingRows rows_;
  std::vector<std::size_t> missing_;  // in this slot, by bucket
  std::size_t announced_ = 0;
};

}  // namespace trireme::parallel::data
