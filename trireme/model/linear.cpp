#include "trireme/model/linear.h"

#include <ATen/ops/empty.h>
#include <ATen/ops/linear.h>
#include <ATen/ops/zeros.h>

#include <utility>

#include "trireme/base/check.h"

namespace trireme::model {

// Weights are zero until initialize(): random ones from torch's generator would be drawn in vain.
Linear::Linear(const Options& options) : torch::nn::Module("Linear") {
  TRIREME_CHECK(options.inputs > 0 && options.outputs > 0, "a layer of ", options.inputs,
                " inputs and ", options.outputs, " outputs");
  weight = register_parameter("weight", at::zeros({options.outputs, options.inputs}));
  if (options.has_bias) bias = register_parameter("bias", at::zeros({options.outputs}));
}

Linear::Linear(at::Tensor tied) : torch::nn::Module("Linear") {
  weight = register_parameter("weight", std::move(tied));
}

at::Tensor Linear::forward(const at::Tensor& x, const Context& context) const {
  if (strategy) return strategy->forward(*this, x, context);
  return at::linear(x, weight, bias);
}

}  // namespace trireme::model
