#include "trireme/parallel/sum_over_ranks.h"

#include <torch/csrc/autograd/custom_function.h>

#include "trireme/comm/torch/tensor.h"

namespace trireme::parallel {
namespace {

struct Kept : torch::CustomClassHolder {
  explicit Kept(comm::Group kept) : group(std::move(kept)) {}
  comm::Group group;
};

at::Tensor summed(const at::Tensor& share, const comm::Group& group) {
  at::Tensor sum = share.detach().clone(at::MemoryFormat::Contiguous);
  comm::all_reduce(group, sum, comm::ReduceOp::Sum, {.label = "sum over ranks"}).wait();
  return sum;
}

struct SumOverRanks : torch::autograd::Function<SumOverRanks> {
  static at::Tensor forward(torch::autograd::AutogradContext* ctx, const at::Tensor& share,
                            c10::intrusive_ptr<Kept> kept) {
    at::Tensor sum = summed(share, kept->group);
    ctx->saved_data["kept"] = c10::IValue::make_capsule(kept);
    return sum;
  }
  static torch::autograd::variable_list backward(torch::autograd::AutogradContext* ctx,
                                                 const torch::autograd::variable_list& of_sum) {
    const auto holder = ctx->saved_data["kept"].toCapsule();
    // Every rank's loss depends on every rank's tensor through the sum, so the gradient is the sum
    // of the gradients of all ranks.
    return {sum_over_ranks(of_sum[0], static_cast<Kept&>(*holder).group), at::Tensor()};
  }
};

}  // namespace

at::Tensor sum_over_ranks(const at::Tensor& share, const comm::Group& group) {
  if (group.size() == 1) return share;
  return SumOverRanks::apply(share, c10::make_intrusive<Kept>(group));
}

}  // namespace trireme::parallel
