// While a WithoutMemory exists in a thread, the layers that the thread makes have parameters of the
// right sizes, full of zeros, that take no memory. Whoever made the model then gives each of them
// memory (at::Tensor::set_data): for the whole parameter, or for the shard that this rank holds.
//
// Thread safety: each thread has its own.

#pragma once

#include <ATen/core/Tensor.h>

namespace trireme::model {

class WithoutMemory {
 public:
  WithoutMemory();
  ~WithoutMemory();
  WithoutMemory(const WithoutMemory&) = delete;
  WithoutMemory& operator=(const WithoutMemory&) = delete;
};

// What a layer registers as a parameter before it is initialized.
at::Tensor zero_parameter(at::IntArrayRef sizes);

}  // namespace trireme::model
