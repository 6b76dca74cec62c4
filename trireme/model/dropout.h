// Dropout whose mask is a pure function of (seed, step, layer, the sample's place in the global
// batch, element): whoever computes a sample, in whatever slot, on whatever rank, drops the same
// elements, and backward and recomputation need no generator's state.
//
// The rate is p rounded to 1/65536, and what is kept is scaled by exactly its inverse.
//
// Threads: pure.

#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>

#include "trireme/model/context.h"

namespace trireme::model {

// x: (B, ...), contiguous or not; any floating type. Returns x itself where nothing is dropped:
// p = 0, or a context that does not train. `layer` is distinct for each use in a model.
// REQUIRES: 0 <= p < 1; context.places, where there are any, has B.
at::Tensor dropout(const at::Tensor& x, double p, int layer, const Context& context);

// The factors of one sample's elements [0, count): 0 or the inverse of the kept share.
struct DropoutKey {
  std::uint64_t seed = 0;
  std::int64_t step = 0;
  int layer = 0;
  std::int64_t place = 0;
};
void dropout_factors(const DropoutKey& key, double p, std::int64_t begin, std::int64_t count,
                     float* out);

}  // namespace trireme::model
