// GradientHooks calls back when a backward pass has finished a parameter's gradient, while the
// rest of that pass still runs.
//
// The gradient is then in Tensor::grad(). Where that was undefined before, autograd has put its
// own tensor there without a copy.
//
// Recomputed blocks run a backward pass of their own inside another: a parameter that several of
// them share is called back for each, and its gradient grows from call to call.
//
// Threads:  calls come on the thread that runs backward.
// Lifetime: hooks are taken off by the destructor. A tensor has one set of hooks at a time: the
//           last to be made takes the place of others, whose end then leaves it alone.

#pragma once

#include <cstddef>
#include <functional>
#include <vector>

#include "trireme/parallel/parameter.h"

namespace trireme::parallel {

class GradientHooks {
 public:
  using Born = std::function<void(std::size_t parameter)>;

  GradientHooks(const std::vector<Parameter>& parameters, const Born& on_gradient);
  ~GradientHooks();
  GradientHooks(const GradientHooks&) = delete;
  GradientHooks& operator=(const GradientHooks&) = delete;

 private:
  std::vector<at::Tensor> tensors_;
  std::vector<const void*> hooks_;  // by tensor: ours
};

}  // namespace trireme::parallel
