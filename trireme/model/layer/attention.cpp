#include "trireme/model/layer/attention.h"

#include <ATen/ops/arange.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/scaled_dot_product_attention.h>

#include <cmath>
#include <limits>
#include <optional>

#include "trireme/base/check.h"
#include "trireme/model/layer/dropout.h"
#include "trireme/model/layer/fused.h"
#include "trireme/model/layer/key_value_cache.h"

namespace trireme::model {
namespace {

// Disjoint from the layer numbers that models use for their own dropout.
constexpr int kDropoutNumbers = 0x4000;

std::vector<at::Tensor> split_projection(const at::Tensor& all, std::int64_t head_width) {
  if (is_fused(all) && head_width % 8 == 0) return split_heads(all, head_width);
  return all.view({all.size(0), all.size(1), 3, all.size(2) / 3 / head_width, head_width})
      .permute({2, 0, 3, 1, 4})
      .unbind(0);
}

// True where a query may attend: within its document, up to itself. (B, 1, T, T)
at::Tensor document_mask(const at::Tensor& documents) {
  const std::int64_t length = documents.size(1);
  const at::Tensor is_past =
      at::ones({length, length}, documents.options().dtype(at::kBool)).tril();
  return documents.unsqueeze(2).eq(documents.unsqueeze(1)).logical_and_(is_past).unsqueeze(1);
}

// True where a query may attend, for the last `queries` of `keys` tokens. (queries, keys)
at::Tensor tail_mask(std::int64_t queries, std::int64_t keys, const at::TensorOptions& options) {
  return at::ones({queries, keys}, options.dtype(at::kBool)).tril(keys - queries);
}

// Repeats each key/value head for all query heads that share it.
at::Tensor spread(const at::Tensor& heads, std::int64_t count) {
  return heads.size(1) == count ? heads : heads.repeat_interleave(count / heads.size(1), 1);
}

// Written out, because the fused kernels draw their dropout mask from a generator, and this one
// depends on the sample.
at::Tensor attend_dropping(const at::Tensor& queries, const at::Tensor& keys,
                           const at::Tensor& values, const AttendOptions& options,
                           const Context& context) {
  const double scale = 1 / std::sqrt(static_cast<double>(queries.size(3)));
  at::Tensor scores = (queries * scale).matmul(keys.transpose(2, 3));
  if (options.is_causal) {
    const at::Tensor may_look = context.documents.defined()
                                    ? document_mask(context.documents)
                                    : tail_mask(queries.size(2), keys.size(2), queries.options());
    scores = scores.masked_fill(may_look.logical_not(), -std::numeric_limits<double>::infinity());
  }
  const at::Tensor weights = scores.softmax(-1).to(values.scalar_type());
  const std::int64_t first = options.first_head * weights.size(2) * weights.size(3);
  return dropout(weights, options.dropout, kDropoutNumbers + options.layer, context, first)
      .matmul(values);
}

}  // namespace

at::Tensor attend(const at::Tensor& queries, const at::Tensor& keys, const at::Tensor& values,
                  const AttendOptions& options, const Context& context) {
  const std::int64_t heads = queries.size(1);
  TRIREME_CHECK(heads % keys.size(1) == 0, heads,
                " query heads are not divisible by the number of key/value heads, ", keys.size(1));
  const auto product = [&](const at::Tensor& k, const at::Tensor& v, const at::Tensor& mask,
                           bool is_causal) {
    return at::scaled_dot_product_attention(queries, spread(k, heads), spread(v, heads),
                                            mask.defined() ? std::optional(mask) : std::nullopt,
                                            0.0, is_causal);
  };
  if (context.is_training && options.dropout > 0) {
    return attend_dropping(queries, spread(keys, heads), spread(values, heads), options, context);
  }
  if (!options.is_causal) return product(keys, values, {}, false);
  if (context.cache) {
    const auto [all_keys, all_values] = context.cache->append(options.layer, keys, values);
    const bool is_first = all_keys.size(2) == queries.size(2);
    if (is_first || queries.size(2) == 1) return product(all_keys, all_values, {}, is_first);
    const at::Tensor mask = tail_mask(queries.size(2), all_keys.size(2), queries.options());
    return product(all_keys, all_values, mask, false);
  }
  if (context.documents.defined()) {
    return product(keys, values, document_mask(context.documents), false);
  }
  return product(keys, values, {}, true);
}

Attention::Attention(const Options& options)
    : torch::nn::Module("Attention"),
      how_{.layer = options.layer, .is_causal = options.is_causal, .dropout = options.dropout} {
  TRIREME_CHECK(options.heads > 0 && options.width % options.heads == 0, "a width of ",
                options.width, " is not divisible by ", options.heads, " heads");
  head_width_ = options.width / options.heads;
  c_attn = register_module(
      "c_attn",
      std::make_shared<Linear>(Linear::Options{
          .inputs = options.width, .outputs = 3 * options.width, .has_bias = options.has_bias}));
  c_proj = register_module(
      "c_proj",
      std::make_shared<Linear>(Linear::Options{
          .inputs = options.width, .outputs = options.width, .has_bias = options.has_bias}));
}

at::Tensor Attention::forward(const at::Tensor& x, const Context& context) const {
  const at::Tensor all = c_attn->forward(x, context);
  const std::int64_t batch = all.size(0), length = all.size(1);
  const std::int64_t width = all.size(2) / 3;
  const std::vector<at::Tensor> parts = split_projection(all, head_width_);
  AttendOptions how = how_;
  how.first_head = c_attn->first_output / head_width_;
  const at::Tensor out = strategy ? strategy->attend(parts[0], parts[1], parts[2], context)
                                  : attend(parts[0], parts[1], parts[2], how, context);
  return c_proj->forward(out.transpose(1, 2).reshape({batch, length, width}), context);
}

}  // namespace trireme::model
