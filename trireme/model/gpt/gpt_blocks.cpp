#include "trireme/model/gpt/gpt_blocks.h"

#include <ATen/ops/arange.h>
#include <ATen/ops/gelu.h>

#include "trireme/base/error.h"
#include "trireme/model/layer/dropout.h"
#include "trireme/model/layer/key_value_cache.h"

namespace trireme::model {
namespace {

using torch::nn::Module;

// Layer numbers for dropout: 0 for embeddings, then two per layer.
int number_of(int layer, bool is_mlp) {
  return 1 + 2 * layer + (is_mlp ? 1 : 0);
}

std::shared_ptr<Linear> linear(std::int64_t inputs, std::int64_t outputs, bool has_bias) {
  return std::make_shared<Linear>(
      Linear::Options{.inputs = inputs, .outputs = outputs, .has_bias = has_bias});
}

std::shared_ptr<Norm> norm(const GptConfig& config) {
  return std::make_shared<Norm>(
      Norm::Options{.width = config.width, .has_bias = config.bias, .epsilon = config.norm_eps});
}

}  // namespace

GptEmbedding::GptEmbedding(const GptConfig& config)
    : context_(config.context), dropout_(config.dropout) {
  wte = register_module("wte", std::make_shared<Embedding>(Embedding::Options{
                                   .rows = config.vocabulary, .width = config.width}));
  wpe = register_module("wpe", std::make_shared<Embedding>(Embedding::Options{
                                   .rows = config.context, .width = config.width}));
}

Activations GptEmbedding::forward(Activations in, const Context& context) {
  const std::int64_t begin = context.cache ? context.cache->length() : 0;
  const std::int64_t end = begin + in.main.size(1);
  if (end > context_) {
    throw Error(ErrorCode::InvalidInput, "a text of " + std::to_string(end) +
                                             " tokens is longer than the model's context of " +
                                             std::to_string(context_));
  }
  const at::Tensor places =
      context.positions.defined() ? context.positions : at::arange(begin, end, in.main.options());
  const at::Tensor tokens = wte->forward(in.main, context);
  in.main = dropout(tokens + wpe->forward(places, context), dropout_, 0, context);
  return in;
}

GptAttention::GptAttention(const GptConfig& config, int layer)
    : dropout_(config.dropout), layer_(layer) {
  ln_1 = register_module("ln_1", norm(config));
  attn = register_module(
      "attn", std::make_shared<Attention>(Attention::Options{.width = config.width,
                                                             .heads = config.heads,
                                                             .has_bias = config.bias,
                                                             .layer = layer,
                                                             .dropout = config.attention_dropout}));
}

Activations GptAttention::forward(Activations in, const Context& context) {
  const at::Tensor x = attn->forward(ln_1->forward(in.main, context), context);
  in.main = in.main + dropout(x, dropout_, number_of(layer_, false), context);
  return in;
}

double GptAttention::forward_flops(const data::Form& form) const {
  const double length = positions_of(form);
  const auto width = static_cast<double>(attn->c_proj->weight.size(1));
  // Two products of (T, D) with (D, T) per head, without the half that the causal mask excludes.
  return Block::forward_flops(form) + 2 * length * (length + 1) * width;
}

GptMlp::GptMlp(const GptConfig& config, int layer) : dropout_(config.dropout), layer_(layer) {
  ln_2 = register_module("ln_2", norm(config));
  const auto mlp = register_module("mlp", std::make_shared<Module>("mlp"));
  c_fc = mlp->register_module("c_fc", linear(config.width, 4 * config.width, config.bias));
  c_proj = mlp->register_module("c_proj", linear(4 * config.width, config.width, config.bias));
}

Activations GptMlp::forward(Activations in, const Context& context) {
  const at::Tensor hidden = c_fc->forward(ln_2->forward(in.main, context), context);
  const at::Tensor x = c_proj->forward(at::gelu(hidden, "tanh"), context);
  in.main = in.main + dropout(x, dropout_, number_of(layer_, true), context);
  return in;
}

GptHead::GptHead(const GptConfig& config, const at::Tensor& table) {
  const auto transformer = register_module("transformer", std::make_shared<Module>("transformer"));
  ln_f = transformer->register_module("ln_f", norm(config));
  lm_head =
      register_module("lm_head", table.defined() ? std::make_shared<Linear>(table)
                                                 : linear(config.width, config.vocabulary, false));
}

Activations GptHead::forward(Activations in, const Context& context) {
  in.main = lm_head->forward(ln_f->forward(in.main, context), context);
  return in;
}

}  // namespace trireme::model
