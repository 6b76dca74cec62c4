// CrossEntropy is the summed negative log-likelihood of the target classes, with an extension
// point: if a strategy is attached, it computes the loss instead (logits sharded over ranks by
// vocabulary).
//
// Thread safety: any thread; it has no mutable state.
// Lifetime:      it shares ownership of its strategy.

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
    // The part of the target's probability that is spread evenly over all classes.
    double label_smoothing = 0;
    // Targets with this value are ignored: padding.
    std::optional<std::int64_t> ignored{};
    // The weight of a target of each class; empty: 1.
    std::vector<double> class_weights{};
    // Focal loss: multiplies the entropy by (1 - p)^gamma, where p is the probability of the target
    // class, so that easy samples have less weight. REQUIRES: no label_smoothing if above 0.
    double focus = 0;
  };

  CrossEntropy() = default;
  explicit CrossEntropy(const Options& options) : options_(options) {}

  // logits: (..., C); target: int64 (...), or class probabilities (..., C). Returns a scalar,
  // float32 or wider. REQUIRES: no probabilities if `focus` or `ignored` is set.
  at::Tensor sum(const at::Tensor& logits, const at::Tensor& target) const;
  // Number of targets that are not ignored, whatever their weights.
  std::int64_t terms(const at::Tensor& target) const;

  const Options& options() const noexcept { return options_; }

  std::shared_ptr<CrossEntropyStrategy> strategy;

 private:
  bool is_in_one_kernel(const at::Tensor& logits, const at::Tensor& target) const;
  at::Tensor focused(const at::Tensor& logits, const at::Tensor& target) const;
  at::Tensor weights_like(const at::Tensor& logits) const;

  Options options_;
};

}  // namespace trireme::model
