// Parameter is a trained tensor as strategies see it: its name, itself, and what is special about
// its updates.
//
// A tensor that several modules share is one parameter, under the name that comes first; a frozen
// one is none.

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
  double rate_factor = 1;  // of the learning rate
  double weight_decay = 0;
  std::int64_t first_update = 1;  // from which on it is trained
  int rule = 0;                   // of several, the one that updates it
};

// What a parameter's updates are like; by default the same for all.
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
