// Combines several models into one, and scores it. The combined outputs are used like the output of
// one model: logits of classes (here log-probabilities), or predicted numbers.
//
//   average  the mean of the members' probabilities, or of their numbers
//   vote     each member votes for its most likely class; the mean probabilities count as one
//            additional vote, which decides ties
//   stack    logistic regression on the members' log-probabilities, with a weight per member and an
//            offset per class; it is fitted on one half of the samples, and all scores are those of
//            the other half
//
// Errors:        score_ensemble() throws InvalidInput for a blend that these data do not support,
//                and what ask_panel() throws.
// Thread safety: one thread; the other functions are pure.

#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <span>
#include <vector>

#include "trireme/train/evaluate/panel.h"
#include "trireme/train/evaluate/scores.h"

namespace trireme::train {

enum class Blend { Average, Vote, Stack };

struct EnsembleScores {
  std::vector<Scores> members;
  Scores ensemble;
  std::vector<double> weights;  // of the members, if the ensemble is a stack
  std::int64_t samples = 0;     // on which the scores are based
};

// Every loss is options.loss, so that losses are comparable.
EnsembleScores score_ensemble(std::vector<PanelMember> members, Blend blend,
                              const PanelOptions& options);

// `outputs`: by member, (..., C).
at::Tensor average_classes(std::span<const at::Tensor> outputs);
at::Tensor average_numbers(std::span<const at::Tensor> outputs);
at::Tensor vote(std::span<const at::Tensor> outputs);

class Stack {
 public:
  // Finds the most likely parameters by Newton's method. A prior with the weight of about one
  // sample pulls member weights towards equal values, and offsets towards 0. `outputs`: by member,
  // (N, C); `truth`: int64 (N).
  static Stack fit(std::span<const at::Tensor> outputs, const at::Tensor& truth);

  at::Tensor answer(std::span<const at::Tensor> outputs) const;
  std::vector<double> weights() const;  // by member

 private:
  at::Tensor weights_;  // (M), float64
  at::Tensor offsets_;  // (C), float64
};

// A fixed random half of `count` samples, the same on every rank and in every run: the samples to
// fit a stack on, or the others.
enum class SampleHalf { Fitted, Reported };
std::vector<std::int64_t> half_of(std::int64_t count, SampleHalf half);

}  // namespace trireme::train
