#include "trireme/model/layer/norm.h"

#include <ATen/ops/layer_norm.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/rms_norm.h>
#include <ATen/ops/zeros.h>

#include "trireme/base/check.h"
#include "trireme/model/layer/fused.h"
#include "trireme/model/layer/kernel/fused.h"

namespace trireme::model {

Norm::Norm(const Options& options)
    : torch::nn::Module("Norm"), epsilon(options.epsilon), is_rms(options.is_rms) {
  TRIREME_CHECK(options.width > 0, "a norm of width ", options.width);
  weight = register_parameter("weight", at::ones({options.width}));
  if (options.has_bias) bias = register_parameter("bias", at::zeros({options.width}));
}

bool Norm::is_in_one_kernel(const at::Tensor& x) const {
  return !is_rms && weight.scalar_type() == at::kFloat && weight.size(0) <= kernel::kNormWidthMax &&
         is_fused(x);
}

std::pair<at::Tensor, at::Tensor> Norm::split(const at::Tensor& x, const Context& context) const {
  if (!adapters.empty() || !is_in_one_kernel(x)) return {x, forward(x, context)};
  return split_norm(x, weight, bias, epsilon);
}

at::Tensor Norm::compute(const at::Tensor& x, const Context&) const {
  if (is_in_one_kernel(x)) return split_norm(x, weight, bias, epsilon).second;
  if (is_rms) {
    const at::Tensor y = at::rms_norm(x, {weight.size(0)}, weight, epsilon);
    return bias.defined() ? y + bias : y;
  }
  return at::layer_norm(x, {weight.size(0)}, weight, bias, epsilon);
}

}  // namespace trireme::model
