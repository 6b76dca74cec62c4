// Block is a part of a model between two points where the model can be cut: a pipeline puts blocks
// on different ranks, ZeRO 3 gathers one at a time, and recomputation discards the activations
// inside one.
//
// A block is an ordinary torch::nn::Module with a forward of this form. It keeps no state between
// calls, because its forward may run twice for one backward. It must use its weights through
// autograd: a detached weight may have changed when backward uses it.
//
// Thread safety: as torch::nn::Module: one thread at a time runs forward of one block.

#pragma once

#include <torch/nn/module.h>

#include "trireme/data/form.h"
#include "trireme/model/activations.h"
#include "trireme/model/context.h"

namespace trireme::model {

class Block : public torch::nn::Module {
 public:
  virtual Activations forward(Activations in, const Context& context) = 0;

  // Floating-point operations of the forward pass of one sample; a multiply-add counts as two. By
  // default every matrix is applied once to every position of the sample.
  virtual double forward_flops(const data::Form& form) const;
};

// The number of positions of a sample: its length if samples are sequences of tokens, otherwise 1.
double positions_of(const data::Form& form);

}  // namespace trireme::model
