// Slice is a flat run of elements that an optimizer updates: a part of a parameter, a parameter,
// or many of them end to end, as long as they share learning rate and weight decay. For a rule of
// whole parameters it is exactly one of them, and says which.
//
// Lifetime: tensors are views of memory that the caller keeps, perhaps shared with other ranks.

#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <string>
#include <vector>

namespace trireme::optim {

struct Slice {
  at::Tensor value;               // flat, float32 or float64
  at::Tensor gradient;            // as many of the same type; an update leaves it as it was
  std::vector<at::Tensor> state;  // as many of the same type each, in the order of state_names()
  double learning_rate = 0;       // of this step, the group's factor included
  double weight_decay = 0;
  std::int64_t first_step = 1;        // from which on it is updated; see gradual.h
  int rule = 0;                       // of several, the one that updates it; see two_rules.h
  std::vector<std::int64_t> sizes{};  // of the parameter; empty: none in particular
  std::string name{};                 // likewise

  // Its elements from `begin` on; of a rule of whole parameters, all of them.
  Slice part(std::int64_t begin, std::int64_t count) const;
};

}  // namespace trireme::optim
