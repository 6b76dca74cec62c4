#include "trireme/model/layer/fused.h"

#include <ATen/ops/empty.h>
#include <ATen/ops/empty_like.h>
#include <c10/core/GradMode.h>
#include <torch/csrc/autograd/custom_function.h>

#include <cstdint>
#include <optional>

#include "trireme/base/check.h"
#include "trireme/device/torch/autocast.h"
#include "trireme/device/torch/torch_device.h"
#include "trireme/model/layer/kernel/fused.h"

namespace trireme::model {
namespace {

using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

constexpr std::int64_t kVector = 8;  // bfloat16 values that kernels load at once
constexpr std::uintptr_t kAlignment = 16;

// As kernels expect it: contiguous, beginning at a multiple of 16 bytes.
at::Tensor plain(const at::Tensor& x) {
  const at::Tensor whole = x.contiguous();
  const auto begin = reinterpret_cast<std::uintptr_t>(whole.const_data_ptr());
  return begin % kAlignment == 0 ? whole : whole.clone();
}

at::Tensor floats(at::IntArrayRef sizes, const at::Tensor& like) {
  return at::empty(sizes, like.options().dtype(at::kFloat).requires_grad(false));
}

void check_first_gradient() {
  TRIREME_CHECK(!c10::GradMode::is_enabled(),
                "fused layers of a GPU have no gradients of gradients; set train.precision=fp32");
}

kernel::NormRows norm_rows(const at::Tensor& x, const at::Tensor& weight, const at::Tensor& bias,
                           const at::Tensor& mean, const at::Tensor& scale, double epsilon) {
  return {.x = x.const_data_ptr(),
          .weight = weight.const_data_ptr<float>(),
          .bias = bias.defined() ? bias.const_data_ptr<float>() : nullptr,
          .mean = mean.mutable_data_ptr<float>(),
          .scale = scale.mutable_data_ptr<float>(),
          .rows = x.numel() / x.size(-1),
          .width = x.size(-1),
          .epsilon = static_cast<float>(epsilon)};
}

struct SplitNorm : torch::autograd::Function<SplitNorm> {
  static variable_list forward(AutogradContext* ctx, const at::Tensor& x, const at::Tensor& weight,
                               const std::optional<at::Tensor>& bias, double epsilon) {
    const at::Tensor in = plain(x), gain = plain(weight);
    const at::Tensor shift = bias ? plain(*bias) : at::Tensor();
    const at::Tensor y = at::empty_like(in);
    const at::Tensor mean = floats({in.numel() / in.size(-1)}, in), scale = at::empty_like(mean);
    kernel::NormRows all = norm_rows(in, gain, shift, mean, scale, epsilon);
    all.y = y.mutable_data_ptr();
    kernel::norm(all, current_stream(in.device()));
    ctx->set_materialize_grads(false);
    ctx->saved_data["has_bias"] = bias.has_value();
    ctx->save_for_backward({in, gain, mean, scale});
    return {x, y};
  }

  static variable_list backward(AutogradContext* ctx, const variable_list& gradients) {
    check_first_gradient();
    variable_list result(4);
    if (!gradients[1].defined()) {
      result[0] = gradients[0];
      return result;
    }
    const variable_list saved = ctx->get_saved_variables();
    const at::Tensor& x = saved[0];
    const at::Tensor of_y = plain(gradients[1]);
    const at::Tensor added = gradients[0].defined() ? plain(gradients[0]) : at::Tensor();
    const at::Tensor of_x = at::empty_like(x);
    const at::Tensor partial = floats({kernel::kPartialRows, 2, x.size(-1)}, x);
    const at::Tensor of_parameters = floats({2, x.size(-1)}, x);
    kernel::norm_gradient({.forward = norm_rows(x, saved[1], {}, saved[2], saved[3], 0),
                           .of_y = of_y.const_data_ptr(),
                           .added = added.defined() ? added.const_data_ptr() : nullptr,
                           .of_x = of_x.mutable_data_ptr(),
                           .partial = partial.mutable_data_ptr<float>(),
                           .of_weight_bias = of_parameters.mutable_data_ptr<float>()},
                          current_stream(x.device()));
    result[0] = of_x;
    result[1] = of_parameters.select(0, 0);
    if (ctx->saved_data["has_bias"].toBool()) result[2] = of_parameters.select(0, 1);
    return result;
  }
};

kernel::GeluRows gelu_rows(const at::Tensor& x, const at::Tensor& bias) {
  return {.x = x.const_data_ptr(),
          .bias = bias.const_data_ptr<float>(),
          .rows = x.numel() / x.size(-1),
          .width = x.size(-1)};
}

struct BiasGelu : torch::autograd::Function<BiasGelu> {
  static at::Tensor forward(AutogradContext* ctx, const at::Tensor& x, const at::Tensor& bias) {
    const at::Tensor in = plain(x), shift = plain(bias);
    const at::Tensor y = at::empty_like(in);
    kernel::GeluRows all = gelu_rows(in, shift);
    all.y = y.mutable_data_ptr();
    kernel::bias_gelu(all, current_stream(in.device()));
    ctx->save_for_backward({in, shift});
    return y;
  }

  static variable_list backward(AutogradContext* ctx, const variable_list& gradients) {
    check_first_gradient();
    const variable_list saved = ctx->get_saved_variables();
    const at::Tensor& x = saved[0];
    const at::Tensor of_y = plain(gradients[0]), of_x = at::empty_like(x);
    const at::Tensor partial = floats({kernel::kPartialRows, x.size(-1)}, x);
    const at::Tensor of_bias = floats({x.size(-1)}, x);
    kernel::bias_gelu_gradient(gelu_rows(x, saved[1]), of_y.const_data_ptr(),
                               of_x.mutable_data_ptr(), partial.mutable_data_ptr<float>(),
                               of_bias.mutable_data_ptr<float>(), current_stream(x.device()));
    return {of_x, of_bias};
  }
};

struct SplitHeads : torch::autograd::Function<SplitHeads> {
  static variable_list forward(AutogradContext*, const at::Tensor& all, std::int64_t head_width) {
    const std::int64_t heads = all.size(2) / 3 / head_width;
    return all.view({all.size(0), all.size(1), 3, heads, head_width})
        .permute({2, 0, 3, 1, 4})
        .unbind(0);
  }

  static variable_list backward(AutogradContext*, const variable_list& gradients) {
    check_first_gradient();
    variable_list parts;
    for (const at::Tensor& one : gradients) parts.push_back(plain(one.transpose(1, 2)));
    const std::int64_t batch = parts[0].size(0), length = parts[0].size(1);
    const std::int64_t width = parts[0].size(2) * parts[0].size(3);
    const at::Tensor all = at::empty({batch, length, 3 * width}, parts[0].options());
    const void* const from[] = {parts[0].const_data_ptr(), parts[1].const_data_ptr(),
                                parts[2].const_data_ptr()};
    kernel::join_three(from, batch * length, width, all.mutable_data_ptr(),
                       current_stream(all.device()));
    return {all, at::Tensor()};
  }
};

kernel::EntropyRows entropy_rows(const at::Tensor& logits, const at::Tensor& target,
                                 const at::Tensor& log_sum, std::int64_t ignored) {
  return {.logits = logits.const_data_ptr(),
          .target = target.const_data_ptr<std::int64_t>(),
          .log_sum = log_sum.mutable_data_ptr<float>(),
          .rows = logits.size(0),
          .classes = logits.size(1),
          .ignored = ignored};
}

struct Entropy : torch::autograd::Function<Entropy> {
  static at::Tensor forward(AutogradContext* ctx, const at::Tensor& logits,
                            const at::Tensor& target, std::int64_t ignored) {
    const at::Tensor in = plain(logits), classes = target.contiguous();
    const at::Tensor log_sum = floats({in.size(0)}, in), loss = at::empty_like(log_sum);
    kernel::entropy(entropy_rows(in, classes, log_sum, ignored), loss.mutable_data_ptr<float>(),
                    current_stream(in.device()));
    ctx->saved_data["ignored"] = ignored;
    ctx->save_for_backward({in, classes, log_sum});
    return loss.sum();
  }

  static variable_list backward(AutogradContext* ctx, const variable_list& gradients) {
    check_first_gradient();
    const variable_list saved = ctx->get_saved_variables();
    const at::Tensor of_loss = gradients[0].to(at::kFloat), of_logits = at::empty_like(saved[0]);
    kernel::entropy_gradient(
        entropy_rows(saved[0], saved[1], saved[2], ctx->saved_data["ignored"].toInt()),
        of_loss.const_data_ptr<float>(), of_logits.mutable_data_ptr(),
        current_stream(of_logits.device()));
    return {of_logits, at::Tensor(), at::Tensor()};
  }
};

}  // namespace

bool has_fused_layers(at::Device device) {
  return device.is_cuda() && kernel::has_fused() &&
         Autocast::type_on(device.type()) == at::kBFloat16;
}

bool is_fused(const at::Tensor& x) {
  return has_fused_layers(x.device()) && x.scalar_type() == at::kBFloat16 && x.numel() > 0 &&
         x.size(-1) % kVector == 0;
}

at::Tensor as_residual_stream(const at::Tensor& x) {
  return has_fused_layers(x.device()) ? x.to(at::kBFloat16) : x;
}

std::pair<at::Tensor, at::Tensor> split_norm(const at::Tensor& x, const at::Tensor& weight,
                                             const at::Tensor& bias, double epsilon) {
  const auto shift = bias.defined() ? std::optional(bias) : std::nullopt;
  const variable_list both = SplitNorm::apply(x, weight, shift, epsilon);
  return {both[0], both[1]};
}

at::Tensor bias_gelu(const at::Tensor& x, const at::Tensor& bias) {
  return BiasGelu::apply(x, bias);
}

at::Tensor sum_of_rows(const at::Tensor& rows, at::ScalarType type) {
  const bool is_plain = rows.is_cuda() && rows.scalar_type() == at::kBFloat16 && rows.dim() == 2 &&
                        rows.numel() > 0 && rows.size(1) % kVector == 0;
  if (!is_plain || !kernel::has_fused() || c10::GradMode::is_enabled()) {
    return rows.sum(0, /*keepdim=*/false, type);
  }
  const at::Tensor from = plain(rows), to = floats({rows.size(1)}, rows);
  const at::Tensor partial = floats({kernel::kPartialRows, rows.size(1)}, rows);
  kernel::column_sum(from.const_data_ptr(), rows.size(0), rows.size(1),
                     partial.mutable_data_ptr<float>(), to.mutable_data_ptr<float>(),
                     current_stream(rows.device()));
  return to.to(type);
}

std::vector<at::Tensor> split_heads(const at::Tensor& all, std::int64_t head_width) {
  return SplitHeads::apply(all, head_width);
}

at::Tensor fused_cross_entropy(const at::Tensor& logits, const at::Tensor& target,
                               std::int64_t ignored) {
  return Entropy::apply(logits, target, ignored);
}

}  // namespace trireme::model
