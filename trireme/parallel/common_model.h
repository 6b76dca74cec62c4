// CommonModel is the model as all ranks of a job share it, between two steps.
//
// Errors:        what Group throws.
// Thread safety: as GradientSync. Every function but first_not_finite() is a collective.

#pragma once

#include <string>

namespace trireme::parallel {

class CommonModel {
 public:
  virtual ~CommonModel() = default;

  // Waits until this rank's parameters and buffers are complete and current, for evaluation.
  virtual void settle() {}
  // Compares the ranks' copies of the weights. Throws Mismatch if they differ.
  virtual void check() {}
  // The end of the job: replicas that differ become one.
  virtual void join() {}
  // The name of the first parameter whose value, or with `has_gradients` whose gradient of the last
  // step, is not finite; "" if all are.
  virtual std::string first_not_finite(bool has_gradients) const = 0;
};

}  // namespace trireme::parallel
