#include "trireme/model/layer/norm.h"

#include <ATen/ops/layer_norm.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/rms_norm.h>
#include <ATen/ops/zeros.h>

#include "trireme/base/check.h"

namespace trireme::model {

Norm::Norm(const Options& options)
    : torch::nn::Module("Norm"), epsilon(options.epsilon), is_rms(options.is_rms) {
  TRIREME_CHECK(options.width > 0, "a norm of width ", options.width);
  weight = register_parameter("weight", at::ones({options.width}));
  if (options.has_bias) bias = register_parameter("bias", at::zeros({options.width}));
}

at::Tensor Norm::compute(const at::Tensor& x, const Context&) const {
  if (is_rms) {
    const at::Tensor y = at::rms_norm(x, {weight.size(0)}, weight, epsilon);
    return bias.defined() ? y + bias : y;
  }
  return at::layer_norm(x, {weight.size(0)}, weight, bias, epsilon);
}

}  // namespace trireme::model
