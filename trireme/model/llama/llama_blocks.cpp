#include "trireme/model/llama/llama_blocks.h"

#include <ATen/ops/arange.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/outer.h>
#include <ATen/ops/silu.h>
#include <ATen/ops/tensor.h>

#include "trireme/base/error.h"
#include "trireme/model/layer/key_value_cache.h"

namespace trireme::model {
namespace {

using torch::nn::Module;

constexpr const char* kCosines = "rope_cos";
constexpr const char* kSines = "rope_sin";

std::shared_ptr<Linear> llama_linear(std::int64_t inputs, std::int64_t outputs) {
  return std::make_shared<Linear>(
      Linear::Options{.inputs = inputs, .outputs = outputs, .has_bias = false});
}

std::shared_ptr<Norm> llama_norm(const LlamaConfig& config) {
  return std::make_shared<Norm>(Norm::Options{
      .width = config.width, .has_bias = false, .epsilon = config.norm_eps, .is_rms = true});
}

// x: (B, H, T, D). A value in the first half of a head forms a pair with the one half a head later.
at::Tensor turned(const at::Tensor& x, const at::Tensor& cosines, const at::Tensor& sines) {
  const at::Tensor c = cosines.to(x.scalar_type()), s = sines.to(x.scalar_type());
  const std::vector<at::Tensor> halves = x.chunk(2, -1);
  return at::cat({halves[0] * c - halves[1] * s, halves[1] * c + halves[0] * s}, -1);
}

}  // namespace

LlamaEmbedding::LlamaEmbedding(const LlamaConfig& config)
    : context_(config.context), frequencies_(rope_frequencies(config.rope())) {
  embed_tokens =
      register_module("embed_tokens", std::make_shared<Embedding>(Embedding::Options{
                                          .rows = config.vocabulary, .width = config.width}));
}

Activations LlamaEmbedding::forward(Activations in, const Context& context) {
  const std::int64_t begin = context.cache ? context.cache->length() : 0;
  const std::int64_t end = begin + in.main.size(1);
  if (end > context_) {
    throw Error(ErrorCode::InvalidInput, "a text of " + std::to_string(end) +
                                             " tokens is longer than the model's context of " +
                                             std::to_string(context_));
  }
  const at::Tensor places =
      context.positions.defined() ? context.positions : at::arange(begin, end, in.main.options());
  // Computed in float64 and rounded once, so that large positions are as exact as small ones.
  const at::Tensor angles = at::outer(
      places.to(at::kDouble), at::tensor(frequencies_, places.options().dtype(at::kDouble)));
  in.main = embed_tokens->forward(in.main, context);
  in.set(kCosines, angles.cos().to(in.main.scalar_type()));
  in.set(kSines, angles.sin().to(in.main.scalar_type()));
  return in;
}

LlamaAttention::LlamaAttention(const LlamaConfig& config, int layer)
    : head_width_(config.width / config.heads), layer_(layer) {
  const std::int64_t width = config.width, shared = config.key_heads() * head_width_;
  input_layernorm = register_module("input_layernorm", llama_norm(config));
  const auto self = register_module("self_attn", std::make_shared<Module>("self_attn"));
  q_proj = self->register_module("q_proj", llama_linear(width, width));
  k_proj = self->register_module("k_proj", llama_linear(width, shared));
  v_proj = self->register_module("v_proj", llama_linear(width, shared));
  o_proj = self->register_module("o_proj", llama_linear(width, width));
}

Activations LlamaAttention::forward(Activations in, const Context& context) {
  const at::Tensor x = input_layernorm->forward(in.main, context);
  const std::int64_t batch = x.size(0), length = x.size(1);
  const auto heads_of = [&](const Linear& projection) {
    return projection.forward(x, context).view({batch, length, -1, head_width_}).transpose(1, 2);
  };
  const at::Tensor &cosines = in.get(kCosines), &sines = in.get(kSines);
  const at::Tensor queries = turned(heads_of(*q_proj), cosines, sines);
  const at::Tensor keys = turned(heads_of(*k_proj), cosines, sines);
  const at::Tensor values = heads_of(*v_proj);
  const at::Tensor out = strategy ? strategy->attend(queries, keys, values, context)
                                  : attend(queries, keys, values, {.layer = layer_}, context);
  in.main = in.main + o_proj->forward(out.transpose(1, 2).reshape({batch, length, -1}), context);
  return in;
}

double LlamaAttention::forward_flops(const data::Form& form) const {
  const double length = positions_of(form);
  const auto width = static_cast<double>(q_proj->weight.size(0));
  // Two products of (T, D) with (D, T) per head, without the half that the causal mask excludes.
  return Block::forward_flops(form) + 2 * length * (length + 1) * width;
}

LlamaMlp::LlamaMlp(const LlamaConfig& config) {
  post_attention_layernorm = register_module("post_attention_layernorm", llama_norm(config));
  const auto mlp = register_module("mlp", std::make_shared<Module>("mlp"));
  gate_proj = mlp->register_module("gate_proj", llama_linear(config.width, config.mlp_width()));
  up_proj = mlp->register_module("up_proj", llama_linear(config.width, config.mlp_width()));
  down_proj = mlp->register_module("down_proj", llama_linear(config.mlp_width(), config.width));
}

Activations LlamaMlp::forward(Activations in, const Context& context) {
  const at::Tensor x = post_attention_layernorm->forward(in.main, context);
  const at::Tensor hidden = at::silu(gate_proj->forward(x, context)) * up_proj->forward(x, context);
  in.main = in.main + down_proj->forward(hidden, context);
  return in;
}

LlamaHead::LlamaHead(const LlamaConfig& config, const at::Tensor& table) {
  const auto model = register_module("model", std::make_shared<Module>("model"));
  norm = model->register_module("norm", llama_norm(config));
  lm_head =
      register_module("lm_head", table.defined() ? std::make_shared<Linear>(table)
                                                 : llama_linear(config.width, config.vocabulary));
}

Activations LlamaHead::forward(Activations in, const Context& context) {
  in.main = lm_head->forward(norm->forward(in.main, context), context);
  in.drop(kCosines);
  in.drop(kSines);
  return in;
}

}  // namespace trireme::model
