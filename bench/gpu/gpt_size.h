// GptSize is the size of a model of the GPT-2 family that `trireme bench gpu` trains, and what
// follows from it: its floating-point operations, and the loss before the first step.
//
// Thread safety: values and pure functions.

#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace trireme::bench::gpu {

inline constexpr std::int64_t kVocabulary = 50304;  // GPT-2's, rounded up to a multiple of 64

struct GptSize {
  std::string name = {};
  std::int64_t layers = 0;
  std::int64_t heads = 0;
  std::int64_t width = 0;
  std::int64_t batch = 0;  // sequences per step, unless the user sets another number

  // Of forward and backward, per token of a sequence of this many. Matrix products only: of the
  // weights, without embeddings, and of causal attention, without the half that its mask excludes.
  double flops_per_token(std::int64_t context) const;
  // The expected loss of a model with initial weights: that of equally likely tokens, and half the
  // variance of the logits, which are products of a normalized row and the weights of a token.
  double first_loss() const;
};

std::vector<std::string> gpt_names();
// REQUIRES: one of these names.
const GptSize& gpt_named(const std::string& name);

}  // namespace trireme::bench::gpu
