#include "trireme/model/loss/loss.h"

#include <ATen/core/Reduction.h>
#include <ATen/ops/mse_loss.h>

#include "trireme/base/check.h"

namespace trireme::model {

at::Tensor MseLoss::sum(const at::Tensor& output, const at::Tensor& target) const {
  TRIREME_CHECK_EQ(output.numel(), target.numel(), "predictions of these targets");
  const at::ScalarType type = output.scalar_type() == at::kDouble ? at::kDouble : at::kFloat;
  return at::mse_loss(output.to(type), target.to(type).view_as(output), at::Reduction::Sum);
}

std::shared_ptr<Loss> cross_entropy(const CrossEntropy::Options& options) {
  return std::make_shared<CrossEntropyLoss>(CrossEntropy(options));
}

std::shared_ptr<Loss> mse() {
  return std::make_shared<MseLoss>();
}

}  // namespace trireme::model
