// CrossEntropy is the negative log-likelihood of the right classes, summed, with a seam: a
// strategy, where one is attached, computes it instead (logits cut over ranks by vocabulary).
//
// Threads:  any; it keeps nothing.
// Lifetime: it shares its strategy.

#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

namespace trireme::model {

class CrossEntropy;

class CrossEntropyStrategy {
 public:
  virtual ~CrossEntropyStrategy() = default;
  virtual at::Tensor sum(const CrossEntropy& layer, const at::Tensor& logits,
                         const at::Tensor& target) = 0;
};

class CrossEntropy {
 public:
  struct Options {
    // The share of the target's probability that is spread evenly over all classes.
    double label_smoothing = 0;
    // Targets with this value count nothing: padding.
    std::optional<std::int64_t> ignored{};
    // What a target of each class counts; empty: 1.
    std::vector<double> class_weights{};
    // (1 - p)^gamma times the entropy, p the probability of the right class: what is known already
    // counts less. REQUIRES: above 0 without label_smoothing.
    double focus = 0;
  };

  CrossEntropy() = default;
  explicit CrossEntropy(const Options& options) : options_(options) {}

  // logits: (..., C), target: int64 (...), or shares of classes (..., C). A scalar, float32 or
  // wider. REQUIRES: without shares where there is a focus or something is ignored.
  at::Tensor sum(const at::Tensor& logits, const at::Tensor& target) const;
  // How many targets count, whatever their weights.
  std::int64_t terms(const at::Tensor& target) const;

  const Options& options() const noexcept { return options_; }

  std::shared_ptr<CrossEntropyStrategy> strategy;

 private:
  at::Tensor focused(const at::Tensor& logits, const at::Tensor& target) const;
  at::Tensor weights_like(const at::Tensor& logits) const;

  Options options_;
};

}  // namespace trireme::model
