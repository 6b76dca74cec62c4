#include "trireme/model/loss/cross_entropy.h"

#include <ATen/core/Reduction.h>
#include <ATen/ops/cross_entropy_loss.h>
#include <ATen/ops/tensor.h>

#include "trireme/base/check.h"
#include "trireme/model/layer/fused.h"

namespace trireme::model {
namespace {

// Targets are rows of class probabilities instead of class numbers.
bool is_shares(const at::Tensor& target) {
  return target.is_floating_point();
}

std::int64_t terms_in(const at::Tensor& target) {
  return is_shares(target) ? target.numel() / target.size(-1) : target.numel();
}

}  // namespace

at::Tensor CrossEntropy::sum(const at::Tensor& logits, const at::Tensor& target) const {
  if (strategy) return strategy->sum(*this, logits, target);
  TRIREME_CHECK_EQ(logits.numel(), terms_in(target) * logits.size(-1), "logits of these targets");
  if (is_in_one_kernel(logits, target)) {
    return fused_cross_entropy(logits.reshape({-1, logits.size(-1)}), target.reshape({-1}),
                               options_.ignored.value_or(-100));
  }
  const at::Tensor wide =
      at::isReducedFloatingType(logits.scalar_type()) ? logits.to(at::kFloat) : logits;
  const at::Tensor rows = wide.reshape({-1, logits.size(-1)});
  const bool is_shared = is_shares(target);
  const at::Tensor classes =
      is_shared ? target.to(rows.scalar_type()).reshape(rows.sizes()) : target.reshape({-1});
  TRIREME_CHECK(!is_shared || (options_.focus == 0 && !options_.ignored),
                "shares of classes are neither focused on nor ignored");
  if (options_.focus > 0) return focused(rows, classes);
  return at::cross_entropy_loss(rows, classes, weights_like(rows), at::Reduction::Sum,
                                options_.ignored.value_or(-100), options_.label_smoothing);
}

bool CrossEntropy::is_in_one_kernel(const at::Tensor& logits, const at::Tensor& target) const {
  return has_fused_layers(logits.device()) && logits.scalar_type() == at::kBFloat16 &&
         logits.numel() > 0 && target.scalar_type() == at::kLong && options_.focus == 0 &&
         options_.label_smoothing == 0 && options_.class_weights.empty();
}

at::Tensor CrossEntropy::weights_like(const at::Tensor& logits) const {
  if (options_.class_weights.empty()) return {};
  // A model may have more outputs than the data have classes; no target uses those.
  std::vector<double> weights = options_.class_weights;
  TRIREME_CHECK(std::ssize(weights) <= logits.size(-1), weights.size(), " weights for ",
                logits.size(-1), " classes");
  weights.resize(static_cast<std::size_t>(logits.size(-1)));
  return at::tensor(at::ArrayRef<double>(weights), at::kDouble)
      .to(logits.device(), logits.scalar_type(), /*non_blocking=*/true);
}

at::Tensor CrossEntropy::focused(const at::Tensor& logits, const at::Tensor& target) const {
  const at::Tensor entropy = at::cross_entropy_loss(logits, target, {}, at::Reduction::None,
                                                    options_.ignored.value_or(-100));
  // p = exp(-entropy); an ignored target has entropy 0 and therefore adds nothing.
  at::Tensor terms = (1 - (-entropy).exp()).clamp_min(1e-7).pow(options_.focus) * entropy;
  if (const at::Tensor weights = weights_like(logits); weights.defined()) {
    terms = terms * weights.index_select(0, target.clamp(0, logits.size(-1) - 1));
  }
  return terms.sum();
}

std::int64_t CrossEntropy::terms(const at::Tensor& target) const {
  if (!options_.ignored) return terms_in(target);
  return target.ne(*options_.ignored).sum().item<std::int64_t>();
}

}  // namespace trireme::model
