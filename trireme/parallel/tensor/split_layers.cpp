#include "trireme/parallel/tensor/split_layers.h"

#include <ATen/ops/cat.h>
#include <ATen/ops/empty.h>

#include <vector>

#include "trireme/comm/torch/tensor.h"
#include "trireme/parallel/tensor/sums.h"

namespace trireme::parallel::tensor {

at::Tensor CommonInput::enter(const at::Tensor& x) {
  if (left_ == 0 || !x_.is_same(x)) {
    left_ = users_;
    x_ = x;
    entered_ = with_summed_gradient(x, group_);
  }
  at::Tensor entered = entered_;
  if (--left_ == 0) {
    x_.reset();
    entered_.reset();
  }
  return entered;
}

at::Tensor OutputsSplit::forward(const model::Linear&, const at::Tensor& x, const model::Context&,
                                 const Next& next) {
  return next(input_->enter(x));
}

at::Tensor InputsSplit::forward(const model::Linear& layer, const at::Tensor& x,
                                const model::Context& context, const Next&) {
  const at::Tensor y = summed(model::linear(x, layer.weight, {}, context), group_);
  // With autocast, the result has the type that the whole layer's has.
  return layer.bias.defined() ? y + layer.bias.to(y.scalar_type()) : y;
}

// Another rank's tokens are looked up in row 0, and count as zeros.
at::Tensor VocabularySplit::forward(const model::Embedding&, const at::Tensor& tokens,
                                    const model::Context&, const Next& next) {
  const at::Tensor local = tokens - shard_.begin;
  const at::Tensor is_other = local.lt(0).logical_or_(local.ge(shard_.count));
  const at::Tensor rows = next(local.masked_fill(is_other, 0));
  return summed(rows.masked_fill(is_other.unsqueeze(-1), 0), group_);
}

at::Tensor LogitsSplit::forward(const model::Linear&, const at::Tensor& x,
                                const model::Context& context, const Next& next) {
  if (context.is_training) return next(with_summed_gradient(x, group_));
  return gathered(next(x));
}

at::Tensor LogitsSplit::gathered(const at::Tensor& logits) const {
  const std::int64_t targets = logits.numel() / logits.size(-1);
  std::vector<std::size_t> counts;
  for (const VocabularyShard& shard : shards_) {
    counts.push_back(static_cast<std::size_t>(targets * shard.count));
  }
  const at::Tensor all = at::empty({targets * shards_.front().total}, logits.options());
  comm::all_gather(group_, all, logits.contiguous().view({-1}), counts, {.label = "logits"}).wait();
  std::vector<at::Tensor> parts;
  std::int64_t begin = 0;
  for (const VocabularyShard& shard : shards_) {
    const std::int64_t count = targets * shard.count;
    parts.push_back(all.narrow(0, begin, count).view({targets, shard.count}));
    begin += count;
  }
  std::vector<std::int64_t> sizes = logits.sizes().vec();
  sizes.back() = shards_.front().total;
  return at::cat(parts, 1).view(sizes);
}

}  // namespace trireme::parallel::tensor
