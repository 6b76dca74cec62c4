// GradientHomes lends the memory in which a parameter's gradient is wanted in the end, so that
// whoever computes it can write it there, instead of somewhere from where it has to be copied.
//
// The borrower returns that very tensor as the parameter's gradient. Nobody has to borrow:
// gradients that come in memory of their own are as welcome.
//
// Threads:  the one that runs backward.
// Lifetime: outlives the backward passes of contexts that refer to it.

#pragma once

#include <ATen/core/Tensor.h>
#include <torch/custom_class.h>

#include "trireme/model/context.h"

namespace trireme::model {

class GradientHomes {
 public:
  virtual ~GradientHomes() = default;
  // Contiguous, of the parameter's sizes, its content to be overwritten; a tensor that nobody else
  // refers to, or autograd would copy what it is given. Undefined where there is
  // none: an unknown parameter, or one whose gradient is to be added to what is there.
  virtual at::Tensor lend(const at::Tensor& parameter) = 0;
  // For a table that another layer shares, which has borrowed its home in this backward pass: these
  // rows of the gradient are added when all the rest has come, and the caller returns none. False
  // where nobody has borrowed it.
  virtual bool add_rows(const at::Tensor& parameter, const at::Tensor& rows,
                        const at::Tensor& values) = 0;
};

// Autograd's functions keep it between forward and backward.
struct HomesHolder : torch::CustomClassHolder {
  explicit HomesHolder(GradientHomes* held) : homes(held) {}
  GradientHomes* homes;
};

// Whether a function's backward may write there: not where gradients of gradients are wanted, nor
// where somebody asked for gradients instead of letting them accumulate.
bool is_accumulating();

// The homes of this pass where a weight's gradient is worth one; null where it is not: without
// gradients, and where a copy costs less than a function that autograd does not know.
c10::intrusive_ptr<HomesHolder> homes_for(const at::Tensor& weight, const Context& context);

}  // namespace trireme::model
