// Context is what a forward pass knows beside its activations: whose samples these are, and where
// in the job's life they are seen. Everything random is a function of it, never of slot or rank.
//
// Threads:  read by one forward pass; passes of distinct contexts are independent.
// Lifetime: the cache and the list of losses outlive the pass, the homes its backward too.
//           Recomputation keeps a copy until the backward pass.

#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <vector>

namespace trireme::model {

class GradientHomes;
class Interruption;
class KeyValueCache;
class WeightCopies;

struct Context {
  bool is_training = false;
  std::uint64_t seed = 0;
  std::int64_t step = 0;
  int slot = 0;
  at::Tensor places{};     // int64 (B): each sample's index in the global batch; or: 0, 1, 2 ...
  at::Tensor positions{};  // int64 (T): each token's place in its text; or: 0, 1, 2 ...
  at::Tensor documents{};  // int64 (B, T): tokens attend within their document only; or: one each
  KeyValueCache* cache = nullptr;  // generation: what attention has already seen
  GradientHomes* homes = nullptr;  // where layers may write their weights' gradients; or: anywhere
  const WeightCopies* copies = nullptr;  // weights in autocast's type; or: cast as they are read
  const Interruption* interruption = nullptr;  // asked between two blocks; or: never
  // Where a model leaves auxiliary losses, already weighted and summed over samples; null: dropped.
  std::vector<at::Tensor>* losses = nullptr;
};

}  // namespace trireme::model
