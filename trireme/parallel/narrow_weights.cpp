#include "trireme/parallel/narrow_weights.h"

#include <ATen/ops/_foreach_copy.h>
#include <c10/core/GradMode.h>

#include <utility>
#include <vector>

namespace trireme::parallel {

NarrowWeights::NarrowWeights(std::span<const Parameter> parameters, at::ScalarType type)
    : type_(type) {
  for (const Parameter& one : parameters) {
    if (one.tensor.scalar_type() != at::kFloat) continue;
    copies_.emplace(one.tensor.unsafeGetTensorImpl(), Copy{.of = one.tensor});
  }
}

at::Tensor NarrowWeights::copy_of(const at::Tensor& parameter) const {
  const auto found = copies_.find(parameter.unsafeGetTensorImpl());
  if (found == copies_.end()) return {};
  if (!std::exchange(is_current_, true)) convert();
  Copy& copy = found->second;
  if (!copy.narrow.defined()) copy.narrow = copy.of.detach().to(type_).contiguous();
  return copy.narrow;
}

void NarrowWeights::convert() const {
  const c10::NoGradGuard no_grad;
  std::vector<at::Tensor> from, to;
  for (const auto& [key, copy] : copies_) {
    if (!copy.narrow.defined()) continue;
    from.push_back(copy.of.detach());
    to.push_back(copy.narrow);
  }
  if (!to.empty()) at::_foreach_copy_(to, from);
}

}  // namespace trireme::parallel
