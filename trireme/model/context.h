// Context is what a forward pass needs besides its activations: which samples it processes, and at
// which point of the job. All random values depend only on it, never on the micro-batch or the
// rank.
//
// Thread safety: used by one forward pass; passes with different contexts are independent.
// Lifetime:      the cache and the list of losses must outlive the pass, the homes also its
//                backward. Recomputation keeps a copy until the backward pass.

#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <vector>

namespace trireme::model {

class GradientBuffers;
class Interruption;
class KeyValueCache;
class LowPrecisionWeights;

struct Context {
  bool is_training = false;
  std::uint64_t seed = 0;
  std::int64_t step = 0;
  int micro_batch = 0;
  at::Tensor places{};  // int64 (B): each sample's index in the global batch; default: 0, 1, 2 ...
  at::Tensor positions{};  // int64 (T): each token's position in its text; default: 0, 1, 2 ...
  // int64 (B, T): tokens attend only within their document; default: one per row
  at::Tensor documents{};
  KeyValueCache* cache = nullptr;               // for generation: keys and values computed so far
  GradientBuffers* homes = nullptr;             // memory for weight gradients; null: any memory
  const LowPrecisionWeights* copies = nullptr;  // weights in autocast's type; null: cast on use
  const Interruption* interruption = nullptr;   // checked between two blocks; may be null
  // Receives the auxiliary losses of a model, already weighted and summed over samples; null drops
  // them.
  std::vector<at::Tensor>* losses = nullptr;
};

}  // namespace trireme::model
