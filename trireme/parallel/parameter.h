// Parameter is a trained tensor with its name and its own optimizer settings.
//
// A tensor that several modules share is one parameter, under the name that comes first. A frozen
// tensor (requires_grad is false) is not a parameter.
//
// Thread safety: a value.

#pragma once

#include <ATen/core/Tensor.h>
#include <torch/nn/module.h>

#include <functional>
#include <string>
#include <vector>

namespace trireme::parallel {

struct Parameter {
  std::string name;
  at::Tensor tensor;
  double rate_factor = 1;  // multiplied into the learning rate
  double weight_decay = 0;
  std::int64_t first_update = 1;  // the first update that trains it
  int rule = 0;                   // index of its update rule, if the optimizer has several
};

// The optimizer settings of a parameter; by default the same for all.
struct Treatment {
  double rate_factor = 1;
  double weight_decay = 0;
  std::int64_t first_update = 1;
  int rule = 0;
};
using Treat = std::function<Treatment(const std::string& name, const at::Tensor& tensor)>;

// In the order in which the module lists them.
std::vector<Parameter> parameters_of(const torch::nn::Module& module, const Treat& treat = {});

}  // namespace trireme::parallel
