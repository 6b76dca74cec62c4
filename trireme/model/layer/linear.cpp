#include "trireme/model/layer/linear.h"

#include <ATen/autocast_mode.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/empty_like.h>
#include <ATen/ops/gelu.h>
#include <ATen/ops/linear.h>
#include <ATen/ops/mm.h>
#include <c10/core/GradMode.h>
#include <torch/csrc/autograd/custom_function.h>

#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "trireme/base/check.h"
#include "trireme/device/torch/torch_device.h"
#include "trireme/model/layer/fused.h"
#include "trireme/model/layer/gradient_buffers.h"
#include "trireme/model/layer/kernel/gelu_products.h"
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

// Without adapters, and with float32 weights and biases.
bool is_plain(const Linear& layer) {
  return layer.adapters.empty() && layer.bias.defined() &&
         layer.weight.scalar_type() == at::kFloat && layer.bias.scalar_type() == at::kFloat;
}

bool is_aligned(const at::Tensor& x) {
  return x.is_contiguous() && reinterpret_cast<std::uintptr_t>(x.const_data_ptr()) % 16 == 0;
}

// Two layers whose products compute GELU between them, and its gradient (gelu_products.h).
struct GeluLayers : torch::autograd::Function<GeluLayers> {
  static kernel::GeluSizes sizes(const at::Tensor& x, const at::Tensor& first,
                                 const at::Tensor& second) {
    return {.rows = x.numel() / first.size(1),
            .inputs = first.size(1),
            .hidden = first.size(0),
            .outputs = second.size(0)};
  }

  static bool is_available(const Linear& first, const Linear& second, const at::Tensor& x) {
    return is_aligned(x) && kernel::has_gelu_products(sizes(x, first.weight, second.weight),
                                                      current_stream(x.device()));
  }

  static at::Tensor workspace(const at::Tensor& x) {
    return at::empty({kernel::kWorkspaceBytes}, x.options().dtype(at::kByte));
  }

  static at::Tensor forward(AutogradContext* ctx, const at::Tensor& x, const at::Tensor& first,
                            const at::Tensor&, const at::Tensor& second, const at::Tensor&,
                            const at::Tensor& narrow_first, const at::Tensor& narrow_first_bias,
                            const at::Tensor& narrow_second, const at::Tensor& narrow_second_bias,
                            c10::intrusive_ptr<HomesHolder> homes) {
    const kernel::GeluSizes all = sizes(x, first, second);
    const at::Tensor before = at::empty({all.rows, all.hidden}, x.options());
    const at::Tensor y = at::empty_like(before), scratch = workspace(x);
    kernel::gelu_product({.sizes = all,
                          .x = x.const_data_ptr(),
                          .weight = narrow_first.const_data_ptr(),
                          .bias = narrow_first_bias.const_data_ptr(),
                          .before = before.mutable_data_ptr(),
                          .y = y.mutable_data_ptr(),
                          .workspace = scratch.mutable_data_ptr()},
                         current_stream(x.device()));
    ctx->save_for_backward({x, first, second, narrow_first, narrow_second, before, y});
    if (homes) ctx->saved_data["homes"] = c10::IValue::make_capsule(homes);
    std::vector<std::int64_t> as_x = x.sizes().vec();
    as_x.back() = all.hidden;
    return at::linear(y.view(as_x), narrow_second, narrow_second_bias);
  }

  static variable_list backward(AutogradContext* ctx, const variable_list& gradients) {
    expect_first_gradient();
    const variable_list saved = ctx->get_saved_variables();
    const at::Tensor &x = saved[0], &first = saved[1], &second = saved[2], &before = saved[5];
    at::Tensor of_result = gradients[0].reshape({-1, second.size(0)}).contiguous();
    if (!is_aligned(of_result)) of_result = of_result.clone();
    const at::Tensor of_before = at::empty_like(before), scratch = workspace(x);
    const at::Tensor of_bias = at::empty({first.size(0)}, before.options());
    kernel::gelu_product_gradient({.sizes = sizes(x, first, second),
                                   .of_result = of_result.const_data_ptr(),
                                   .weight = saved[4].const_data_ptr(),
                                   .before = before.const_data_ptr(),
                                   .of_before = of_before.mutable_data_ptr(),
                                   .of_bias = of_bias.mutable_data_ptr(),
                                   .workspace = scratch.mutable_data_ptr()},
                                  current_stream(x.device()));
    const at::Tensor rows = x.view({-1, first.size(1)});
    const auto of_weight = [&](const at::Tensor& weight, const at::Tensor& of,
                               const at::Tensor& by) {
      return HomedLinear::weight_gradient(ctx, weight, of.t(), by);
    };
    variable_list result(10);
    if (ctx->needs_input_grad(3)) result[3] = of_weight(second, of_result, saved[6]);
    if (ctx->needs_input_grad(4)) result[4] = sum_of_rows(of_result, at::kFloat);
    if (ctx->needs_input_grad(0)) result[0] = of_before.mm(saved[3]).view(x.sizes());
    if (ctx->needs_input_grad(1)) result[1] = of_weight(first, of_before, rows);
    if (ctx->needs_input_grad(2)) result[2] = of_bias.to(at::kFloat);
    return result;
  }
};

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

at::Tensor linear_gelu_linear(const Linear& first, const Linear& second, const at::Tensor& x,
                              const Context& context) {
  if (!is_plain(first) || !is_fused(x) || first.bias.size(0) % 8 != 0) {
    return second.forward(at::gelu(first.forward(x, context), "tanh"), context);
  }
  if (!is_plain(second) || !GeluLayers::is_available(first, second, x)) {
    const at::Tensor product = linear(x, first.weight, {}, context);
    return second.forward(bias_gelu(product, first.bias), context);
  }
  const auto narrow = [&](const at::Tensor& one) { return *narrow_weight(one, context, true); };
  return GeluLayers::apply(x, first.weight, first.bias, second.weight, second.bias,
                           narrow(first.weight), narrow(first.bias), narrow(second.weight),
                           narrow(second.bias), homes_for(first.weight, context));
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
