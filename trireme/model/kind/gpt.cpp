#include "trireme/model/kind/gpt.h"

#include <cmath>
#include <memory>

#include "trireme/model/layer/attention.h"
#include "trireme/model/layer/dropout.h"
#include "trireme/model/layer/embedding.h"
#include "trireme/model/layer/fused.h"
#include "trireme/model/layer/linear.h"
#include "trireme/model/layer/norm.h"
#include "trireme/model/registry.h"
#include "trireme/model/text_size.h"

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

// Tokens, int64 (B, T), to (B, T, width).
class GptEmbedding final : public Block {
 public:
  explicit GptEmbedding(const GptConfig& config)
      : context_(config.context), dropout_(config.dropout) {
    wte_ = register_module("wte", std::make_shared<Embedding>(Embedding::Options{
                                      .rows = config.vocabulary, .width = config.width}));
    wpe_ = register_module("wpe", std::make_shared<Embedding>(Embedding::Options{
                                      .rows = config.context, .width = config.width}));
  }

  Activations forward(Activations in, const Context& context) override {
    const at::Tensor places = positions_of(in.main, context, context_);
    const at::Tensor tokens = wte_->forward(in.main, context);
    const at::Tensor sum = as_residual_stream(tokens + wpe_->forward(places, context));
    in.main = dropout(sum, dropout_, 0, context);
    return in;
  }

  double forward_flops(const data::Form&) const override { return 0; }
  const at::Tensor& table() const noexcept { return wte_->weight; }

 private:
  std::int64_t context_;
  double dropout_;
  std::shared_ptr<Embedding> wte_, wpe_;
};

class GptAttention final : public Block {
 public:
  GptAttention(const GptConfig& config, int layer) : dropout_(config.dropout), layer_(layer) {
    ln_1_ = register_module("ln_1", norm(config));
    attn_ = register_module("attn", std::make_shared<Attention>(
                                        Attention::Options{.width = config.width,
                                                           .heads = config.heads,
                                                           .has_bias = config.bias,
                                                           .layer = layer,
                                                           .dropout = config.attention_dropout}));
  }

  Activations forward(Activations in, const Context& context) override {
    const auto [stream, normal] = ln_1_->split(in.main, context);
    const at::Tensor x = attn_->forward(normal, context);
    in.main = stream + dropout(x, dropout_, number_of(layer_, false), context);
    return in;
  }

  double forward_flops(const data::Form& form) const override {
    const double length = positions_of(form);
    const auto width = static_cast<double>(attn_->c_proj->weight.size(1));
    // Two products of (T, D) with (D, T) per head, without the half that the causal mask excludes.
    return Block::forward_flops(form) + 2 * length * (length + 1) * width;
  }

 private:
  double dropout_;
  int layer_;
  std::shared_ptr<Norm> ln_1_;
  std::shared_ptr<Attention> attn_;
};

class GptMlp final : public Block {
 public:
  GptMlp(const GptConfig& config, int layer) : dropout_(config.dropout), layer_(layer) {
    ln_2_ = register_module("ln_2", norm(config));
    const auto mlp = register_module("mlp", std::make_shared<Module>("mlp"));
    c_fc_ = mlp->register_module("c_fc", linear(config.width, 4 * config.width, config.bias));
    c_proj_ = mlp->register_module("c_proj", linear(4 * config.width, config.width, config.bias));
  }

  Activations forward(Activations in, const Context& context) override {
    const auto [stream, normal] = ln_2_->split(in.main, context);
    const at::Tensor x = c_proj_->forward(linear_gelu(*c_fc_, normal, context), context);
    in.main = stream + dropout(x, dropout_, number_of(layer_, true), context);
    return in;
  }

 private:
  double dropout_;
  int layer_;
  std::shared_ptr<Norm> ln_2_;
  std::shared_ptr<Linear> c_fc_, c_proj_;
};

// (B, T, width) to logits (B, T, vocabulary).
class GptHead final : public Block {
 public:
  // `table` is the tied weight; undefined if the head has its own.
  GptHead(const GptConfig& config, const at::Tensor& table) {
    const auto transformer =
        register_module("transformer", std::make_shared<Module>("transformer"));
    ln_f_ = transformer->register_module("ln_f", norm(config));
    lm_head_ = register_module("lm_head", table.defined()
                                              ? std::make_shared<Linear>(table)
                                              : linear(config.width, config.vocabulary, false));
  }

  Activations forward(Activations in, const Context& context) override {
    in.main = lm_head_->forward(ln_f_->forward(in.main, context), context);
    return in;
  }

 private:
  std::shared_ptr<Norm> ln_f_;
  std::shared_ptr<Linear> lm_head_;
};

bool is_projection(const std::string& name) {
  return name.ends_with(".c_attn.weight") || name.ends_with(".c_proj.weight") ||
         name.ends_with(".c_fc.weight");
}

}  // namespace

void GptConfig::describe(config::Fields<GptConfig>& f) {
  f.add("vocab_size", &GptConfig::vocabulary)
      .synonyms({"vocabulary", "n_vocab"})
      .range(0, 1 << 24)
      .unit("tokens")
      .help("vocabulary size; 0: that of the data");
  f.add("max_seq_len", &GptConfig::context)
      .synonyms(
          {"context", "block_size", "context_length", "n_positions", "max_position_embeddings"})
      .range(0, 1 << 20)
      .unit("tokens")
      .help("maximum sequence length; 0: that of the data's samples");
  f.add("hidden_size", &GptConfig::width)
      .synonyms({"width", "n_embd", "d_model", "dim", "embed_dim"})
      .range(1, 1 << 16)
      .help("embedding dimension");
  f.add("num_layers", &GptConfig::layers)
      .synonyms({"layers", "n_layer", "n_layers", "num_hidden_layers"})
      .range(1, 1024)
      .help("number of transformer layers");
  f.add("num_heads", &GptConfig::heads)
      .synonyms({"heads", "n_head", "n_heads", "num_attention_heads"})
      .range(1, 1024)
      .help("number of attention heads");
  f.add("dropout", &GptConfig::dropout)
      .range(0.0, 0.99)
      .help("dropout probability of embeddings and residual branches");
  f.add("attention_dropout", &GptConfig::attention_dropout)
      .range(0.0, 0.99)
      .help("dropout probability of attention weights");
  f.add("tie_word_embeddings", &GptConfig::tie_word_embeddings)
      .help("tie the output layer's weight to the token embedding");
  f.add("bias", &GptConfig::bias).help("biases in linear layers and norms");
  f.add("norm_eps", &GptConfig::norm_eps)
      .synonyms({"layer_norm_epsilon", "layer_norm_eps"})
      .range(0.0, 1.0)
      .help("epsilon of the layer norms");
  f.require([](const GptConfig& c) {
    return c.width % c.heads == 0
               ? std::string()
               : "hidden_size = " + std::to_string(c.width) +
                     " is not divisible by num_heads = " + std::to_string(c.heads);
  });
}

Gpt::Gpt(const GptConfig& config, const data::Form& form) : config_(config) {
  const TextSize size = text_size("gpt", {config.vocabulary, config.context}, form);
  config_.vocabulary = size.vocabulary;
  config_.context = size.context;
  const auto embedding = std::make_shared<GptEmbedding>(config_);
  add("transformer", embedding);
  for (int layer = 0; layer < config_.layers; ++layer) {
    const std::string path = "transformer.h." + std::to_string(layer);
    add(path, std::make_shared<GptAttention>(config_, layer));
    add(path, std::make_shared<GptMlp>(config_, layer));
  }
  add("", std::make_shared<GptHead>(
              config_, config_.tie_word_embeddings ? embedding->table() : at::Tensor()));
}

Start Gpt::start_of(const std::string& name, const at::Tensor& parameter) const {
  if (name.ends_with("bias")) return Start::constant(0);
  if (parameter.dim() < 2) return Start::constant(1);
  const bool is_residual = name.ends_with(".c_proj.weight");
  return Start::normal(is_residual ? 0.02 / std::sqrt(2.0 * static_cast<double>(config_.layers))
                                   : 0.02);
}

Published Gpt::published(const std::string& parameter) const {
  return {.name = parameter, .is_transposed = is_projection(parameter)};
}

std::vector<SplitRule> Gpt::split_rules() const {
  using enum SplitRule::Cut;
  const std::int64_t head_dim = config_.width / config_.heads;
  const std::string layer = "transformer.h.*.";
  return {{.layers = "transformer.wte", .cut = Vocabulary},
          {.layers = layer + "attn.c_attn",
           .cut = Outputs,
           .unit = head_dim,
           .parts = 3,
           .what = "num_heads"},
          {.layers = layer + "attn.c_proj", .cut = Inputs, .unit = head_dim, .what = "num_heads"},
          {.layers = layer + "mlp.c_fc", .cut = Outputs},
          {.layers = layer + "mlp.c_proj", .cut = Inputs},
          {.layers = "lm_head", .cut = Vocabulary}};
}

void add_gpt(ModelRegistry& registry) {
  registry.add<GptConfig, Gpt>("gpt", "a decoder-only transformer of the GPT-2 family");
}

}  // namespace trireme::model
