// Loss is what training minimizes. It is computed as a sum, never as a mean: the loss of a
// micro-batch is its sum divided by the number of terms in the whole step. The gradients of
// all micro-batches therefore add up to the gradient of the mean over the global batch, whatever
// their number and sizes.
//
// Thread safety: any thread; a loss has no mutable state.

#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <memory>
#include <utility>

#include "trireme/model/loss/cross_entropy.h"

namespace trireme::model {

class Loss {
 public:
  virtual ~Loss() = default;
  // Returns a scalar, float32 or wider: the sum over all terms.
  virtual at::Tensor sum(const at::Tensor& output, const at::Tensor& target) const = 0;
  // Number of terms in the sum for this target.
  virtual std::int64_t terms(const at::Tensor& target) const { return target.numel(); }
  // Whether every sample has the same number of terms; otherwise ranks sum their numbers before
  // each step.
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

// Squared differences; output and target have the same number of elements.
class MseLoss final : public Loss {
 public:
  at::Tensor sum(const at::Tensor& output, const at::Tensor& target) const override;
};

std::shared_ptr<Loss> cross_entropy(const CrossEntropy::Options& options = {});
std::shared_ptr<Loss> mse();

}  // namespace trireme::model
