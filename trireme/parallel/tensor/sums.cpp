#include "trireme/parallel/tensor/sums.h"

#include <torch/csrc/autograd/custom_function.h>

#include "trireme/comm/torch/tensor.h"

namespace trireme::parallel::tensor {
namespace {

using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

struct HeldGroup : torch::CustomClassHolder {
  explicit HeldGroup(const comm::Group& all) : group(all) {}
  comm::Group group;
};

at::Tensor sum_in_place(const at::Tensor& x, const comm::Group& group, const char* label) {
  const at::Tensor own = x.contiguous();
  comm::all_reduce(group, own, comm::ReduceOp::Sum, {.label = label}).wait();
  return own;
}

struct SumBackward : torch::autograd::Function<SumBackward> {
  static at::Tensor forward(AutogradContext* ctx, const at::Tensor& x,
                            const c10::intrusive_ptr<HeldGroup>& held) {
    ctx->saved_data["group"] = c10::IValue::make_capsule(held);
    return x.view_as(x);
  }
  static variable_list backward(AutogradContext* ctx, const variable_list& gradients) {
    const auto held = ctx->saved_data["group"].toCapsule();
    // Autograd may use its gradient elsewhere, too.
    return {sum_in_place(gradients[0].clone(), static_cast<HeldGroup&>(*held).group,
                         "gradient of activations"),
            at::Tensor()};
  }
};

struct SumForward : torch::autograd::Function<SumForward> {
  static at::Tensor forward(AutogradContext* ctx, const at::Tensor& x,
                            const c10::intrusive_ptr<HeldGroup>& held) {
    ctx->mark_dirty({x});
    return sum_in_place(x, held->group, "activations");
  }
  static variable_list backward(AutogradContext*, const variable_list& gradients) {
    return {gradients[0], at::Tensor()};
  }
};

}  // namespace

at::Tensor with_summed_gradient(const at::Tensor& x, const comm::Group& group) {
  if (group.size() == 1 || !x.requires_grad()) return x;
  return SumBackward::apply(x, c10::make_intrusive<HeldGroup>(group));
}

at::Tensor summed(const at::Tensor& x, const comm::Group& group) {
  if (group.size() == 1) return x;
  const at::Tensor own = x.contiguous();
  if (!own.requires_grad()) return sum_in_place(own, group, "activations");
  return SumForward::apply(own, c10::make_intrusive<HeldGroup>(group));
}

}  // namespace trireme::parallel::tensor
