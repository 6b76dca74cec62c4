#include "trireme/train/evaluate/sampler.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

#include "trireme/base/check.h"
#include "trireme/base/error.h"

namespace trireme::train {

namespace {

// A logit of -inf excludes its token, as long as another token remains.
void refuse_broken(std::span<const float> logits) {
  bool has_any = false;
  for (const float logit : logits) {
    if (std::isnan(logit) || logit == INFINITY) {
      throw Error(ErrorCode::Diverged,
                  "the model's outputs are not finite: its weights diverged in training, or "
                  "overflow; try an earlier --checkpoint");
    }
    has_any = has_any || std::isfinite(logit);
  }
  if (!has_any) throw Error(ErrorCode::Diverged, "all logits of the model are -inf");
}

}  // namespace

Sampler::Sampler(const SamplerOptions& options) : options_(options), random_(options.seed) {
  TRIREME_CHECK(options.temperature >= 0 && std::isfinite(options.temperature), "a temperature of ",
                options.temperature);
  TRIREME_CHECK(options.top_k >= 0, "the ", options.top_k, " likeliest");
  TRIREME_CHECK(options.top_p >= 0 && options.top_p <= 1, "a share of ", options.top_p);
}

std::int64_t Sampler::draw(std::span<const float> logits) {
  TRIREME_CHECK(!logits.empty(), "nothing to draw from");
  refuse_broken(logits);
  if (options_.temperature == 0) {
    return std::max_element(logits.begin(), logits.end()) - logits.begin();
  }
  std::vector<std::int64_t> tokens(logits.size());
  std::iota(tokens.begin(), tokens.end(), 0);
  const auto likelier = [&](std::int64_t a, std::int64_t b) {
    const float left = logits[static_cast<std::size_t>(a)];
    const float right = logits[static_cast<std::size_t>(b)];
    return left != right ? left > right : a < b;
  };
  std::sort(tokens.begin(), tokens.end(), likelier);
  if (options_.top_k > 0 && options_.top_k < static_cast<std::int64_t>(tokens.size())) {
    tokens.resize(static_cast<std::size_t>(options_.top_k));
  }

  const double most = logits[static_cast<std::size_t>(tokens[0])];
  std::vector<double> weights;
  double whole = 0;
  for (const std::int64_t token : tokens) {
    const double logit = logits[static_cast<std::size_t>(token)];
    weights.push_back(std::exp((logit - most) / options_.temperature));
    whole += weights.back();
  }
  // Top-p: the first token is kept, whatever its probability.
  double kept = 0;
  std::size_t count = 0;
  while (count < tokens.size() && (count == 0 || kept < options_.top_p * whole)) {
    kept += weights[count++];
  }

  double at = random_.uniform_double() * kept;
  for (std::size_t i = 0; i + 1 < count; ++i) {
    at -= weights[i];
    if (at < 0) return tokens[i];
  }
  return tokens[count - 1];
}

}  // namespace trireme::train
