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
  };

  CrossEntropy() = default;
  explicit CrossEntropy(const Options& options) : options_(options) {}

  // logits: (..., C), target: int64 (...). A scalar, float32 or wider.
  at::Tensor sum(const at::Tensor& logits, const at::Tensor& target) const;
  // How many targets count.
  std::int64_t terms(const at::Tensor& target) const;

  const Options& options() const noexcept { return options_; }

  std::shared_ptr<CrossEntropyStrategy> strategy;

 private:
  Options options_;
};

}  // namespace trireme::model
