// MicroBatchGradients holds this rank's gradients of one step: the sum over its micro-batches, or
// each micro-batch's own where sums follow a fixed tree (is_ordered).
//
//   gradients.begin_step(plan, kept);
//   gradients.begin(0);                 // this rank's first micro-batch
//   ... gradients.take(parameter)       // by the hook of every gradient
//   gradients.end();
//
// Repeated steps: gradients of finished micro-batches stay if the step is run again after a death,
//                 as long as this rank still runs the same micro-batches or whole pieces of them.
// Thread safety:  the thread that runs backward.

#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "trireme/parallel/data/gradient/gradient_buckets.h"
#include "trireme/parallel/gradient_sync.h"

namespace trireme::parallel::data {

class MicroBatchGradients {
 public:
  struct Options {
    bool is_ordered = false;
    // A bucket's memory is returned as soon as it is reduced. Nothing can be kept then.
    bool is_released = false;
    bool is_in_parts = false;  // see GradientBuckets::Options
    bool keeps_finished = false;
    std::function<at::Tensor(std::int64_t count)> allocate;  // zeros
    std::function<void(std::size_t bucket)> full;            // see GradientBuckets::Options
  };
  // The plan must outlive this object.
  MicroBatchGradients(const BucketPlan& plan, const std::vector<Parameter>& parameters,
                      Options options);

  // `is_kept`: this step is run again, and its finished micro-batches count if the plan keeps them.
  // `count_before`: the number of micro-batches of the last attempt.
  void begin_step(const StepPlan& plan, bool is_kept, int count_before);
  void begin(std::size_t index);
  void end();
  // Zeros instead of all gradients of this step, and no parameter is used. Nothing is finished
  // then.
  void clear();

  // Whether the gradients of this micro-batch are there.
  bool has(int micro_batch) const;
  bool is_empty() const;
  bool is_used(std::size_t parameter);

  void take(std::size_t parameter);
  at::Tensor lend(std::size_t parameter) { return current().lend(parameter); }
  bool add_rows(std::size_t parameter, const at::Tensor& rows, const at::Tensor& values) {
    return current().add_rows(parameter, rows, values);
  }

  // The sum of this rank's gradients in a bucket; of ordered sums, the micro-batch's own.
  const at::Tensor& bucket(std::size_t bucket, std::size_t index = 0);
  void release(std::size_t bucket);
  // All buckets. REQUIRES: !is_released.
  const at::Tensor& memory() { return at(0).memory(); }

 private:
  static constexpr int kEmpty = -1;

  GradientBuckets& at(std::size_t index);
  GradientBuckets& current() { return at(index_); }
  void keep_sum(const std::vector<int>& finished, int count_before);
  void keep_each(const std::vector<int>& finished);
  std::size_t last_to_run() const;

  const BucketPlan& plan_;
  const std::vector<Parameter>& parameters_;
  Options options_;
  std::vector<std::unique_ptr<GradientBuckets>> buckets_;
  StepPlan step_;
  std::size_t index_ = 0;      // of the micro-batch that runs, among this rank's
  std::vector<int> finished_;  // by index: the micro-batch whose gradients are there, or kEmpty
  bool is_mixed_ = false;      // the sum contains gradients of an unfinished micro-batch
};

}  // namespace trireme::parallel::data
