#include "trireme/model/layer/batch_norm.h"

#include <ATen/ops/batch_norm.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/zeros.h>
#include <c10/core/GradMode.h>

#include <optional>

#include "trireme/base/check.h"

namespace trireme::model {

BatchNorm::BatchNorm(const Options& options) : torch::nn::Module("BatchNorm"), options_(options) {
  TRIREME_CHECK(options.channels > 0, "a norm of ", options.channels, " channels");
  weight = register_parameter("weight", at::ones({options.channels}));
  bias = register_parameter("bias", at::zeros({options.channels}));
  running_mean = register_buffer("running_mean", at::zeros({options.channels}));
  running_var = register_buffer("running_var", at::ones({options.channels}));
}

at::Tensor BatchNorm::forward(const at::Tensor& x, const Context& context) const {
  const bool is_kept = !context.is_training || c10::GradMode::is_enabled();
  const auto kept = [&](const at::Tensor& values) {
    return is_kept ? std::optional(values) : std::nullopt;
  };
  return at::batch_norm(x, weight, bias, kept(running_mean), kept(running_var), context.is_training,
                        options_.momentum, options_.epsilon,
                        /*cudnn_enabled=*/true);
}

}  // namespace trireme::model
