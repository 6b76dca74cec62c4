// Sampler draws the next token from a model's logits, with temperature, top-k and top-p.
//
// Logits are divided by `temperature` (0: always the most likely token). Only the `top_k` most
// likely tokens are kept, and of these the fewest whose probabilities add up to `top_p`. The same
// seed gives the same tokens.
//
// Errors:        Diverged if a logit is NaN or +inf; -inf excludes its token.
// Thread safety: one thread.

#pragma once

#include <cstdint>
#include <span>

#include "trireme/base/random.h"

namespace trireme::train {

struct SamplerOptions {
  double temperature = 1;
  std::int64_t top_k = 0;  // 0: all
  double top_p = 1;
  std::uint64_t seed = 1;
};

class Sampler {
 public:
  // REQUIRES: a finite temperature >= 0, top_k >= 0, and top_p from 0 to 1.
  explicit Sampler(const SamplerOptions& options);

  // REQUIRES: at least one logit.
  std::int64_t draw(std::span<const float> logits);

 private:
  SamplerOptions options_;
  Random random_;
};

}  // namespace trireme::train
