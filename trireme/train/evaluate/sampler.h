// Sampler draws the next token from a model's logits: the likeliest ones, at a temperature.
//
// Meaning: logits are divided by `temperature` (0: always the likeliest token); of the tokens only
//          the `top_k` likeliest stay, and of those only the fewest whose probabilities reach
//          `top_p` together. The same seed gives the same tokens.
// Failure: Diverged where a logit is NaN or infinitely large; one infinitely small forbids its
// token. Threads: one.

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
  // REQUIRES: a finite temperature and a top_k that are not negative, a top_p from 0 to 1.
  explicit Sampler(const SamplerOptions& options);

  // REQUIRES: at least one logit.
  std::int64_t draw(std::span<const float> logits);

 private:
  SamplerOptions options_;
  Random random_;
};

}  // namespace trireme::train
