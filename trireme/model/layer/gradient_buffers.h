// GradientBuffers lends the memory where the gradient of a parameter is finally needed, so that
// backward can write it there directly instead of copying it.
//
// The borrower returns that same tensor as the parameter's gradient. Borrowing is optional:
// gradients in other memory are accepted too.
//
// Thread safety: used by the thread that runs backward.
// Lifetime:      must outlive the backward passes of contexts that refer to it.

#pragma once

#include <ATen/core/Tensor.h>
#include <torch/custom_class.h>

#include "trireme/model/context.h"

namespace trireme::model {

class GradientBuffers {
 public:
  virtual ~GradientBuffers() = default;
  // Returns a contiguous tensor with the parameter's sizes, whose content is to be overwritten. No
  // other tensor refers to it; otherwise autograd would copy the gradient. Undefined if there is
  // none: for an unknown parameter, or one whose gradient is added to an existing one.
  virtual at::Tensor lend(const at::Tensor& parameter) = 0;
  // For a table that is shared with another layer which has borrowed its home in this backward
  // pass. These rows of the gradient are added after all other gradients, and the caller returns no
  // gradient. Returns false if the home was not borrowed.
  virtual bool add_rows(const at::Tensor& parameter, const at::Tensor& rows,
                        const at::Tensor& values) = 0;
};

// Lets autograd functions keep the pointer between forward and backward.
struct HomesHolder : torch::CustomClassHolder {
  explicit HomesHolder(GradientBuffers* held) : homes(held) {}
  GradientBuffers* homes;
};

// Whether a function's backward may write there. It may not if gradients of gradients are needed,
// or if the caller requested gradients instead of accumulating them.
bool is_accumulating();

// The homes of this pass if using one for this weight is worthwhile, otherwise null: without
// gradients, and if a copy is cheaper than a custom autograd function.
c10::intrusive_ptr<HomesHolder> homes_for(const at::Tensor& weight, const Context& context);

}  // namespace trireme::model
