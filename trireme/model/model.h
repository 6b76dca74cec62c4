// Model is what a training loop trains: a torch::nn::Module whose forward takes a batch and a
// Context. BlockModel is one made of blocks; wrap() makes one of any other module.
//
// Names:         parameters have the names that named_parameters() returns. published() gives the
//                names of other formats (Hugging Face), which checkpoints use.
// Thread safety: as torch::nn::Module.

#pragma once

#include <torch/nn/module.h>

#include <memory>
#include <string>
#include <vector>

#include "trireme/data/form.h"
#include "trireme/model/block.h"
#include "trireme/model/context.h"
#include "trireme/model/gate.h"
#include "trireme/model/split_rule.h"
#include "trireme/model/start.h"

namespace trireme::model {

class Loss;

// The name of a parameter in the published format, and whether that format stores its transpose.
struct Published {
  std::string name;
  bool is_transposed = false;
};

class Model : public torch::nn::Module {
 public:
  // Returns logits (B, C) or (B, T, V), or predictions.
  virtual at::Tensor forward(const at::Tensor& input, const Context& context) = 0;

  // The blocks in order; empty if the model is not made of blocks.
  virtual std::vector<std::shared_ptr<Block>> blocks() const { return {}; }

  // Discards activations inside each block and recomputes them in backward.
  // Errors: Unsupported if the model is not made of blocks.
  virtual void set_recompute(bool is_on);

  // The gate is notified of passes until another one, or null, is set. It is not called if the
  // model is not made of blocks.
  virtual void set_gate(std::shared_ptr<Gate>) {}

  // Floating-point operations per sample, forward and backward; 0: unknown.
  virtual double flops_a_sample(const data::Form&) const { return 0; }

  // How a parameter is initialized; see trireme/model/start.h.
  virtual Start start_of(const std::string& name, const at::Tensor& parameter) const;

  // The loss of this model, if it supports no other; null: the loss that the recipe selects.
  virtual std::shared_ptr<const Loss> own_loss() const { return nullptr; }

  virtual Published published(const std::string& parameter) const { return {parameter}; }

  // How tensor parallelism cuts the layers; empty: the model cannot be cut.
  virtual std::vector<SplitRule> split_rules() const { return {}; }
};

// The device that holds the parameters; the CPU if there are none.
at::Device device_of(const torch::nn::Module& module);

// Number of elements of all parameters; a tied parameter counts once.
std::int64_t parameter_count(const torch::nn::Module& module);

}  // namespace trireme::model
