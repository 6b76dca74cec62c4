// Slice is a flat range of elements that an optimizer updates: a part of a parameter, a parameter,
// or several consecutive parameters with the same learning rate and weight decay. For an optimizer
// that needs whole parameters it is exactly one parameter and contains its name.
//
// Lifetime: tensors are views of memory that the caller keeps, possibly shared with other ranks.

#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <string>
#include <vector>

namespace trireme::optim {

struct Slice {
  at::Tensor value;     // flat, float32 or float64
  at::Tensor gradient;  // same type and number of elements; not changed by an update
  // Same type and number of elements each, in the order of state_names().
  std::vector<at::Tensor> state;
  double learning_rate = 0;  // of this step, including the group's factor
  double weight_decay = 0;
  std::int64_t first_step = 1;        // the first step in which it is updated; see gradual.h
  int rule = 0;                       // which of two rules updates it; see two_rules.h
  std::vector<std::int64_t> sizes{};  // of the parameter; empty if the slice is not one parameter
  std::string name{};                 // of the parameter, likewise

  // Its elements from `begin` on; all of them for an optimizer that needs whole parameters.
  Slice part(std::int64_t begin, std::int64_t count) const;
};

}  // namespace trireme::optim
