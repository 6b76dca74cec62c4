// Model is anything that a training loop trains: a torch::nn::Module whose forward takes a batch
// and a Context. BlockModel is one made of blocks; wrap() makes one of any other module.
//
// Names:   parameters have the names that named_parameters() gives. A format of others (Hugging
//          Face's) is a matter of published(), which checkpoints ask.
// Threads: as torch::nn::Module.

#pragma once

#include <torch/nn/module.h>

#include <memory>
#include <string>
#include <vector>

#include "trireme/data/form.h"
#include "trireme/model/block.h"
#include "trireme/model/context.h"
#include "trireme/model/gate.h"
#include "trireme/model/start.h"

namespace trireme::model {

class Loss;

// How others call a parameter, and whether they store its transpose.
struct Published {
  std::string name;
  bool is_transposed = false;
};

class Model : public torch::nn::Module {
 public:
  // Logits (B, C) or (B, T, V), or predictions.
  virtual at::Tensor forward(const at::Tensor& input, const Context& context) = 0;

  // In order; empty where the model is not made of blocks.
  virtual std::vector<std::shared_ptr<Block>> blocks() const { return {}; }

  // Forgets activations inside each block and computes them again in backward.
  // Unsupported where the model is not made of blocks.
  virtual void set_recompute(bool is_on);

  // Told where passes are, until another is set, or none. Not called where the model is not made
  // of blocks.
  virtual void set_gate(std::shared_ptr<Gate>) {}

  // Floating-point operations of one sample, forward and backward; 0: unknown.
  virtual double flops_a_sample(const data::Form&) const { return 0; }

  // What a parameter is before the first step; see trireme/model/start.h.
  virtual Start start_of(const std::string& name, const at::Tensor& parameter) const;

  // What this model's outputs are to be judged by, where no other loss would do; null: what the
  // recipe says.
  virtual std::shared_ptr<const Loss> own_loss() const { return nullptr; }

  virtual Published published(const std::string& parameter) const { return {parameter}; }
};

// Elements of all parameters; a tied one counts once.
std::int64_t parameter_count(const torch::nn::Module& module);

}  // namespace trireme::model
