// Combines the outputs of several models. The result is used like the output of one model: logits
// of classes (here log-probabilities), or predicted numbers.
//
//   average  the mean of the members' probabilities, or of their numbers
//   vote     each member votes for its most likely class; the mean probabilities count as one
//            additional vote, which decides ties
//   stack    logistic regression on the members' log-probabilities, with a weight per member and an
//            offset per class; it is fitted on samples that are used neither for training nor for
//            the reported scores
//
// Thread safety: pure functions.

#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <span>
#include <vector>

namespace trireme::train {

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
