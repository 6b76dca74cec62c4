// Block is a piece of a model between two places where it can be cut: a pipeline puts blocks on
// different ranks, zero 3 gathers one at a time, recomputation forgets what is inside one.
//
// A block is an ordinary torch::nn::Module with a forward of this form. It keeps nothing from one
// call to the next, since its forward may run twice for one backward. It reads its weights as
// autograd sees them: one that it detached may have changed when backward comes to it.
//
// Threads: as torch::nn::Module: forward of one block by one thread at a time.

#pragma once

#include <torch/nn/module.h>

#include "trireme/data/form.h"
#include "trireme/model/activations.h"
#include "trireme/model/context.h"

namespace trireme::model {

class Block : public torch::nn::Module {
 public:
  virtual Activations forward(Activations in, const Context& context) = 0;

  // Floating-point operations of one sample's forward pass; a multiply-add counts as two. Unless
  // it is said otherwise: every matrix is applied once to every position of the sample.
  virtual double forward_flops(const data::Form& form) const;
};

// The positions of a sample: its length where samples are sequences of tokens, else 1.
double positions_of(const data::Form& form);

}  // namespace trireme::model
