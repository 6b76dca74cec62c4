#include "trireme/model/linear.h"

#include <ATen/ops/empty_like.h>
#include <ATen/ops/linear.h>
#include <ATen/ops/mm.h>
#include <ATen/ops/zeros.h>
#include <torch/csrc/autograd/custom_function.h>

#include <optional>
#include <utility>

#include "trireme/base/check.h"
#include "trireme/model/gradient_homes.h"

namespace trireme::model {
namespace {

using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

// at::linear whose weight's gradient is written where it is wanted. The products are those that
// autograd would make of at::linear, so the bits are too.
struct HomedLinear : torch::autograd::Function<HomedLinear> {
  static at::Tensor forward(AutogradContext* ctx, const at::Tensor& x, const at::Tensor& weight,
                            const std::optional<at::Tensor>& bias,
                            c10::intrusive_ptr<HomesHolder> homes) {
    ctx->save_for_backward({x, weight});
    ctx->saved_data["homes"] = c10::IValue::make_capsule(homes);
    ctx->saved_data["has_bias"] = bias.has_value();
    return at::linear(x, weight, bias);
  }

  static variable_list backward(AutogradContext* ctx, const variable_list& gradients) {
    const variable_list saved = ctx->get_saved_variables();
    const at::Tensor &x = saved[0], &weight = saved[1];
    const at::Tensor gradient = gradients[0].reshape({-1, weight.size(0)});
    variable_list result(4);
    if (ctx->needs_input_grad(0)) result[0] = gradient.mm(weight).view(x.sizes());
    const at::Tensor rows = x.reshape({-1, weight.size(1)});
    if (ctx->needs_input_grad(1) && !is_accumulating()) {
      result[1] = gradient.t().mm(rows);
    } else if (ctx->needs_input_grad(1)) {
      const auto holder = ctx->saved_data["homes"].toCapsule();
      result[1] = static_cast<HomesHolder&>(*holder).homes->lend(weight);
      if (!result[1].defined()) result[1] = at::empty_like(weight);
      at::mm_out(result[1], gradient.t(), rows);
    }
    if (ctx->saved_data["has_bias"].toBool()) result[2] = gradient.sum(0);
    return result;
  }
};

}  // namespace

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
  if (const auto homes = homes_for(weight, context)) {
    const auto own = bias.defined() ? std::optional(bias) : std::nullopt;
    return HomedLinear::apply(x, weight, own, homes);
  }
  return at::linear(x, weight, bias);
}

}  // namespace trireme::model
