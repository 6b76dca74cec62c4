// Loss is what training makes small. It is given as a sum, never as a mean: a slot's loss is its
// sum over the number of terms in the whole step, so that the gradients of slots, however many and
// however uneven, add up to the gradient of the mean over the global batch.
//
// Threads: any; a loss keeps nothing.

#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <memory>
#include <utility>

#include "trireme/model/cross_entropy.h"

namespace trireme::model {

class Loss {
 public:
  virtual ~Loss() = default;
  // A scalar, float32 or wider: the sum over all terms.
  virtual at::Tensor sum(const at::Tensor& output, const at::Tensor& target) const = 0;
  // How many terms the sum of this target has.
  virtual std::int64_t terms(const at::Tensor& target) const { return target.numel(); }
  // Whether every sample has as many; otherwise ranks add their numbers up before each step.
  virtual bool has_even_terms() const { return true; }
};

class CrossEntropyLoss final : public Loss {
 public:
  explicit CrossEntropyLoss(CrossEntropy entropy) : layer(std::move(entropy)) {}

  at::Tensor sum(const at::Tensor& output, const at::Tensor& target) const override {
    return layer.sum(output, target);
  }
  std::int64_t terms(const at::Tensor& target) const override { return layer.terms(target); }
  bool has_even_terms() const override { return !layer.options().ignored; }

  CrossEntropy layer;
};

// Squared differences; output and target have as many elements.
class MseLoss final : public Loss {
 public:
  at::Tensor sum(const at::Tensor& output, const at::Tensor& target) const override;
};

std::shared_ptr<Loss> cross_entropy(const CrossEntropy::Options& options = {});
std::shared_ptr<Loss> mse();

}  // namespace trireme::model
