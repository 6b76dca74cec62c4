// GradientHooks calls a function when a backward pass has finished a parameter's gradient, while
// the rest of the pass still runs.
//
// The gradient is then in Tensor::grad(). If that was undefined before, autograd has put its own
// tensor there without a copy.
//
// Blocks with activation recomputation run a backward pass of their own inside another one. For a
// parameter that several such blocks share, the function is called for each of them, and its
// gradient grows from call to call.
//
// Thread safety: the function is called on the thread that runs backward.
// Lifetime:      the destructor removes the hooks. A tensor has one set of hooks at a time: newer
//                hooks replace older ones, whose destructor then does not remove the newer ones.

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
  std::vector<const void*> hooks_;  // by tensor: the hook that this object set
};

}  // namespace trireme::parallel
