#include "trireme/model/block.h"

namespace trireme::model {

double Block::forward_flops(const data::Form& form) const {
  double flops = 0;
  for (const at::Tensor& parameter : parameters()) {
    if (parameter.dim() >= 2) flops += 2.0 * static_cast<double>(parameter.numel());
  }
  return flops * positions_of(form);
}

double positions_of(const data::Form& form) {
  const bool is_tokens = at::isIntegralType(form.input_type, /*includeBool=*/false);
  return is_tokens && !form.input_sizes.empty() ? static_cast<double>(form.input_sizes[0]) : 1.0;
}

}  // namespace trireme::model
