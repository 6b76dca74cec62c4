// An ensemble answers for several models at once. What comes out is read like a model's own
// output: logits of classes (here logarithms of probabilities), or predicted numbers.
//
// Average: the mean of the members' probabilities, or of their numbers.
// Vote:    each member is for its likeliest class; the mean of their probabilities counts as one
//          vote more, shared out, which decides between classes with as many.
// Stack:   a logistic model of the members' log-probabilities, a weight a member and a number a
//          class; fitted, so it needs samples of its own, that nobody trained or reports on.
// Threads: pure.

#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <span>
#include <vector>

namespace trireme::train {

// `outputs`: of each member, (..., C).
at::Tensor average_classes(std::span<const at::Tensor> outputs);
at::Tensor average_numbers(std::span<const at::Tensor> outputs);
at::Tensor vote(std::span<const at::Tensor> outputs);

class Stack {
 public:
  // Finds the likeliest weights, drawn a little (as by one sample) towards equal ones and 0, by
  // Newton's method. `outputs`: of each member, (N, C); `truth`: int64 (N).
  static Stack fit(std::span<const at::Tensor> outputs, const at::Tensor& truth);

  at::Tensor answer(std::span<const at::Tensor> outputs) const;
  std::vector<double> weights() const;  // a member's each

 private:
  at::Tensor weights_;  // (M), float64
  at::Tensor offsets_;  // (C), float64
};

// Every other sample or so of `count`, the same for everybody: those to fit on, or the others.
enum class Half { Fitted, Reported };
std::vector<std::int64_t> half_of(std::int64_t count, Half half);

}  // namespace trireme::train
