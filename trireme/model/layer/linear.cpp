#include "trireme/model/layer/linear.h"

#include <ATen/autocast_mode.h>
#include <ATen/ops/empty_like.h>
#include <ATen/ops/gelu.h>
#include <ATen/ops/linear.h>
#include <ATen/ops/mm.h>
#include <c10/core/GradMode.h>
#include <torch/csrc/autograd/custom_function.h>

#include <optional>
#include <utility>

#include "trireme/base/check.h"
#include "trireme/model/layer/fused.h"
#include "trireme/model/layer/gradient_buffers.h"
#include "trireme/model/layer/low_precision_weights.h"
#include "trireme/model/without_memory.h"

namespace trireme::model {
namespace {

using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

// Whether a product of such 16-bit tensors can be written in the type of `home` at once: a GPU sums
// it in float32 anyway.
bool can_widen(const at::Tensor& x, const at::Tensor& home) {
  return x.is_cuda() && at::isReducedFloatingType(x.scalar_type()) &&
         home.scalar_type() == at::kFloat;
}

// at::linear that writes the gradient of its weight directly to its final memory and may read the
// weight in a 16-bit type, that of x. It computes the same products as autograd for at::linear, so
// the results are bitwise identical, except that a GPU does not round gradients of float32 weights
// to 16 bits.
struct HomedLinear : torch::autograd::Function<HomedLinear> {
  static at::Tensor forward(AutogradContext* ctx, const at::Tensor& x, const at::Tensor& weight,
                            const std::optional<at::Tensor>& bias,
                            const std::optional<at::Tensor>& narrow,
                            const std::optional<at::Tensor>& narrow_bias,
                            c10::intrusive_ptr<HomesHolder> homes) {
    ctx->save_for_backward({x, weight, narrow.value_or(at::Tensor())});
    if (homes) ctx->saved_data["homes"] = c10::IValue::make_capsule(homes);
    ctx->saved_data["has_bias"] = bias.has_value();
    if (narrow_bias) return at::linear(x, narrow.value_or(weight), narrow_bias);
    const auto own = bias ? std::optional(bias->to(x.scalar_type())) : std::nullopt;
    return at::linear(x, narrow.value_or(weight), own);
  }

  static variable_list backward(AutogradContext* ctx, const variable_list& gradients) {
    const variable_list saved = ctx->get_saved_variables();
    const at::Tensor &x = saved[0], &weight = saved[1], &narrow = saved[2];
    const at::Tensor& read = narrow.defined() ? narrow : weight;
    const at::Tensor gradient = gradients[0].reshape({-1, weight.size(0)});
    const at::Tensor rows = x.reshape({-1, weight.size(1)});
    variable_list result(6);
    if (ctx->needs_input_grad(0)) result[0] = gradient.mm(read).view(x.sizes());
    if (ctx->needs_input_grad(1)) result[1] = weight_gradient(ctx, weight, gradient.t(), rows);
    if (ctx->saved_data["has_bias"].toBool()) {
      const bool is_wide = gradient.is_cuda();  // summed in float32, as the bias is
      const at::ScalarType type = is_wide ? weight.scalar_type() : gradient.scalar_type();
      result[2] = sum_of_rows(gradient, type);
    }
    return result;
  }

  static at::Tensor weight_gradient(AutogradContext* ctx, const at::Tensor& weight,
                                    const at::Tensor& gradient, const at::Tensor& rows) {
    if (!is_accumulating()) return gradient.mm(rows).to(weight.scalar_type());
    at::Tensor home;
    if (const auto held = ctx->saved_data.find("homes"); held != ctx->saved_data.end()) {
      home = static_cast<HomesHolder&>(*held->second.toCapsule()).homes->lend(weight);
    }
    if (!home.defined()) home = at::empty_like(weight);
    if (rows.scalar_type() == weight.scalar_type()) return at::mm_out(home, gradient, rows);
    if (!can_widen(rows, home)) return home.copy_(gradient.mm(rows));
    return at::mm_out(home, gradient, rows, home.scalar_type());
  }
};

// The weight in autocast's type, if a copy exists or it is needed together with a home; nullopt if
// autocast can do the conversion or is off.
std::optional<at::Tensor> narrow_weight(const at::Tensor& weight, const Context& context,
                                        bool has_home) {
  const c10::DeviceType device = weight.device().type();
  if (!at::autocast::is_autocast_enabled(device)) return std::nullopt;
  const at::ScalarType type = at::autocast::get_autocast_dtype(device);
  if (context.copies != nullptr && c10::GradMode::is_enabled()) {
    at::Tensor copy = context.copies->copy_of(weight);
    if (copy.defined() && copy.scalar_type() == type) return copy;
  }
  return has_home ? std::optional(weight.detach().to(type)) : std::nullopt;
}

}  // namespace

at::Tensor linear(const at::Tensor& x, const at::Tensor& weight, const at::Tensor& bias,
                  const Context& context) {
  const auto homes = homes_for(weight, context);
  const auto narrow = narrow_weight(weight, context, homes != nullptr);
  if (!homes && !narrow) return at::linear(x, weight, bias);
  const at::ScalarType type = narrow ? narrow->scalar_type() : x.scalar_type();
  std::optional<at::Tensor> own, narrow_bias;
  if (bias.defined()) {
    own = bias.is_cuda() ? bias : bias.to(type);
    if (bias.is_cuda()) narrow_bias = narrow_weight(bias, context, /*has_home=*/false);
  }
  return HomedLinear::apply(x.to(type), weight, own, narrow, narrow_bias, homes);
}

at::Tensor linear_gelu(const Linear& layer, const at::Tensor& x, const Context& context) {
  const bool is_in_one_kernel = layer.adapters.empty() && layer.bias.defined() &&
                                layer.bias.scalar_type() == at::kFloat &&
                                layer.bias.size(0) % 8 == 0 && is_fused(x);
  if (!is_in_one_kernel) return at::gelu(layer.forward(x, context), "tanh");
  return bias_gelu(linear(x, layer.weight, {}, context), layer.bias);
}

// Weights are zero until initialize(): random values from torch's generator would be overwritten.
Linear::Linear(const Options& options) : torch::nn::Module("Linear") {
  TRIREME_CHECK(options.inputs > 0 && options.outputs > 0, "a layer of ", options.inputs,
                " inputs and ", options.outputs, " outputs");
  weight = register_parameter("weight", zero_parameter({options.outputs, options.inputs}));
  if (options.has_bias) bias = register_parameter("bias", zero_parameter({options.outputs}));
}

Linear::Linear(at::Tensor tied) : torch::nn::Module("Linear") {
  weight = register_parameter("weight", std::move(tied));
}

}  // namespace trireme::model
