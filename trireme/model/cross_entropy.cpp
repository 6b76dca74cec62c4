#include "trireme/model/cross_entropy.h"

#include <ATen/core/Reduction.h>
#include <ATen/ops/cross_entropy_loss.h>

#include "trireme/base/check.h"

namespace trireme::model {

at::Tensor CrossEntropy::sum(const at::Tensor& logits, const at::Tensor& target) const {
  if (strategy) return strategy->sum(*this, logits, target);
  TRIREME_CHECK_EQ(logits.numel(), target.numel() * logits.size(-1), "logits of these targets");
  const at::Tensor wide =
      at::isReducedFloatingType(logits.scalar_type()) ? logits.to(at::kFloat) : logits;
  return at::cross_entropy_loss(wide.reshape({-1, logits.size(-1)}), target.reshape({-1}), {},
                                at::Reduction::Sum, options_.ignored.value_or(-100),
                                options_.label_smoothing);
}

std::int64_t CrossEntropy::terms(const at::Tensor& target) const {
  if (!options_.ignored) return target.numel();
  return target.ne(*options_.ignored).sum().item<std::int64_t>();
}

}  // namespace trireme::model
