#include "trireme/parallel/tensor/sharded_cross_entropy.h"

#include <ATen/ops/stack.h>
#include <ATen/ops/zeros_like.h>
#include <torch/csrc/autograd/custom_function.h>

#include "trireme/base/check.h"
#include "trireme/base/error.h"
#include "trireme/comm/torch/tensor.h"

namespace trireme::parallel::tensor {
namespace {

using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

struct ShardedTerms : torch::CustomClassHolder {
  comm::Group group = comm::Group::solo();
  VocabularyShard shard;
  double smoothing = 0;
  std::int64_t ignored = -100;
};

// What this rank's logits say of each target, (N): summed over the ranks.
struct TargetSums {
  at::Tensor exponentials, own, logits;
};

TargetSums exchange(const at::Tensor& exponentials, const at::Tensor& own, const at::Tensor& logits,
                    const ShardedTerms& how) {
  std::vector<at::Tensor> parts{exponentials, own};
  if (how.smoothing > 0) parts.push_back(logits);
  const at::Tensor all = at::stack(parts);
  comm::all_reduce(how.group, all, comm::ReduceOp::Sum, {.label = "cross entropy"}).wait();
  return {all[0], all[1], how.smoothing > 0 ? all[2] : at::Tensor()};
}

// logits: (N, this rank's part), float32 or wider; target: int64 (N). Returns the sum of the terms.
struct Sum : torch::autograd::Function<Sum> {
  static at::Tensor forward(AutogradContext* ctx, const at::Tensor& logits,
                            const at::Tensor& target, const c10::intrusive_ptr<ShardedTerms>& how) {
    const VocabularyShard& shard = how->shard;
    const at::Tensor is_used = target.ne(how->ignored);
    const at::Tensor local = target - shard.begin;
    const at::Tensor is_mine = local.ge(0).logical_and_(local.lt(shard.count));
    const at::Tensor row = local.clamp(0, shard.count - 1).unsqueeze(1);

    const at::Tensor most = std::get<0>(logits.max(1));
    comm::all_reduce(how->group, most, comm::ReduceOp::Max, {.label = "largest logit"}).wait();
    const at::Tensor shifted = logits - most.unsqueeze(1);
    const at::Tensor own = shifted.gather(1, row).squeeze(1) * is_mine;
    const at::Tensor of_all = how->smoothing > 0 ? shifted.sum(1) : at::Tensor();
    const at::Tensor share = shifted.exp_();
    const TargetSums sums = exchange(share.sum(1), own, of_all, *how);

    const at::Tensor log_sum = sums.exponentials.log();
    at::Tensor terms = log_sum - sums.own;
    if (how->smoothing > 0) {
      const auto total = static_cast<double>(shard.total);
      terms = terms * (1 - how->smoothing) + (log_sum - sums.logits / total) * how->smoothing;
    }
    ctx->save_for_backward({share.div_(sums.exponentials.unsqueeze(1)), row, is_mine, is_used});
    ctx->saved_data["how"] = c10::IValue::make_capsule(how);
    return (terms * is_used).sum();
  }

  // The derivative by a logit is its probability, less the target's share of it.
  static variable_list backward(AutogradContext* ctx, const variable_list& gradients) {
    const variable_list saved = ctx->get_saved_variables();
    const at::Tensor &share = saved[0], &row = saved[1], &is_mine = saved[2], &is_used = saved[3];
    const auto held = ctx->saved_data["how"].toCapsule();
    const ShardedTerms& how = static_cast<const ShardedTerms&>(*held);
    const at::Tensor target = is_mine.to(share.scalar_type()) * (how.smoothing - 1);
    at::Tensor result = share.scatter_add(1, row, target.unsqueeze(1));
    if (how.smoothing > 0) result.sub_(how.smoothing / static_cast<double>(how.shard.total));
    return {result.mul_(is_used.unsqueeze(1)).mul_(gradients[0]), at::Tensor(), at::Tensor()};
  }
};

}  // namespace

at::Tensor ShardedCrossEntropy::sum(const model::CrossEntropy& layer, const at::Tensor& logits,
                                    const at::Tensor& target) {
  if (logits.size(-1) == shard_.total && shard_.count != shard_.total) {
    return model::CrossEntropy(layer.options()).sum(logits, target);
  }
  TRIREME_CHECK_EQ(logits.size(-1), shard_.count, "logits of this rank");
  if (target.is_floating_point()) {
    throw Error(ErrorCode::Unsupported,
                "targets that are class probabilities are not supported with parallel.tensor");
  }
  const auto how = c10::make_intrusive<ShardedTerms>();
  how->group = group_;
  how->shard = shard_;
  how->smoothing = layer.options().label_smoothing;
  how->ignored = layer.options().ignored.value_or(-100);
  const at::Tensor wide =
      at::isReducedFloatingType(logits.scalar_type()) ? logits.to(at::kFloat) : logits;
  return Sum::apply(wide.reshape({-1, shard_.count}), target.reshape({-1}), how);
}

std::shared_ptr<const model::Loss> sharded(const model::Loss& loss, const comm::Group& group,
                                           const VocabularyShard& shard) {
  const auto* entropy = dynamic_cast<const model::CrossEntropyLoss*>(&loss);
  if (entropy == nullptr || entropy->layer.options().focus > 0 ||
      !entropy->layer.options().class_weights.empty()) {
    throw Error(ErrorCode::Unsupported,
                "parallel.tensor cuts the logits of this model, which loss.kind = "
                "\"cross_entropy\" without class weights supports; use it, or parallel.tensor=1");
  }
  auto result = std::make_shared<model::CrossEntropyLoss>(entropy->layer);
  result->layer.strategy = std::make_shared<ShardedCrossEntropy>(group, shard);
  return result;
}

}  // namespace trireme::parallel::tensor
