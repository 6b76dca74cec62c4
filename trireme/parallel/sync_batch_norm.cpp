#include "trireme/parallel/sync_batch_norm.h"

#include <ATen/ops/ones.h>
#include <ATen/ops/zeros.h>
#include <c10/core/GradMode.h>
#include <torch/csrc/autograd/custom_function.h>

#include <vector>

#include "trireme/base/check.h"
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

// All dimensions except the channel dimension.
std::vector<std::int64_t> others(const at::Tensor& input) {
  std::vector<std::int64_t> dims{0};
  for (std::int64_t dim = 2; dim < input.dim(); ++dim) dims.push_back(dim);
  return dims;
}

// A view of (C) that broadcasts over (N, C, ...).
at::Tensor spread(const at::Tensor& by_channel, const at::Tensor& over) {
  std::vector<std::int64_t> sizes(static_cast<std::size_t>(over.dim()), 1);
  sizes[1] = by_channel.numel();
  return by_channel.view(sizes);
}

}  // namespace

at::Tensor sum_over_ranks(const at::Tensor& share, const comm::Group& group) {
  if (group.size() == 1) return share;
  return SumOverRanks::apply(share, c10::make_intrusive<Kept>(group));
}

SyncBatchNorm::SyncBatchNorm(const comm::Group& group, const Options& options)
    // Its collectives run while gradients of other layers are reduced, so it needs its own group.
    : group_(group.duplicate()), options_(options) {
  weight = register_parameter("weight", at::ones({options.features}));
  bias = register_parameter("bias", at::zeros({options.features}));
  running_mean = register_buffer("running_mean", at::zeros({options.features}));
  running_var = register_buffer("running_var", at::ones({options.features}));
  num_batches_tracked = register_buffer("num_batches_tracked", at::zeros({}, at::kLong));
}

at::Tensor SyncBatchNorm::forward(const at::Tensor& input) {
  TRIREME_CHECK(input.dim() >= 2 && input.size(1) == options_.features, "batch norm of ",
                options_.features, " features on an input of ", input.dim(), " dimensions");
  // Computes in the type of the parameters, because sums of 16-bit numbers would be inaccurate.
  const at::Tensor wide = input.to(weight.scalar_type());
  if (!is_training()) return normalized(wide, running_mean, running_var).to(input.scalar_type());
  const std::vector<std::int64_t> dims = others(input);
  auto count = static_cast<double>(input.numel() / options_.features);
  group_.all_reduce({&count, 1, comm::DType::Float64}, comm::ReduceOp::Sum, {.label = "samples"})
      .wait();
  // Two passes, because E[x^2] - E[x]^2 in one pass is inaccurate.
  const at::Tensor mean = sum_over_ranks(wide.sum(dims), group_) / count;
  const at::Tensor centered = wide - spread(mean, wide);
  const at::Tensor variance = sum_over_ranks(centered.square().sum(dims), group_) / count;
  track(mean, variance, count);
  return normalized(wide, mean, variance).to(input.scalar_type());
}

at::Tensor SyncBatchNorm::normalized(const at::Tensor& input, const at::Tensor& mean,
                                     const at::Tensor& variance) const {
  const at::Tensor factor = weight * (variance + options_.eps).rsqrt();
  return (input - spread(mean, input)) * spread(factor, input) + spread(bias, input);
}

// As in torch, the running variance is the unbiased one.
void SyncBatchNorm::track(const at::Tensor& mean, const at::Tensor& variance, double count) {
  const c10::NoGradGuard no_grad;
  running_mean.lerp_(mean.detach(), options_.momentum);
  const double unbiased = count > 1 ? count / (count - 1) : 1;
  running_var.lerp_(variance.detach() * unbiased, options_.momentum);
  num_batches_tracked.add_(1);
}

}  // namespace trireme::parallel
