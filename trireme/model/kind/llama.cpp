#include "trireme/model/kind/llama.h"

#include <ATen/ops/cat.h>
#include <ATen/ops/outer.h>
#include <ATen/ops/silu.h>
#include <ATen/ops/tensor.h>

#include <memory>
#include <vector>

#include "trireme/model/layer/attention.h"
#include "trireme/model/layer/embedding.h"
#include "trireme/model/layer/linear.h"
#include "trireme/model/layer/norm.h"
#include "trireme/model/registry.h"
#include "trireme/model/text_size.h"

namespace trireme::model {
namespace {

using torch::nn::Module;

std::string complaint_of_heads(const LlamaConfig& c) {
  if (c.width % c.heads != 0 || c.width / c.heads % 2 != 0) {
    return "hidden_size = " + std::to_string(c.width) +
           " is not divisible into num_heads = " + std::to_string(c.heads) +
           " of an even size each";
  }
  if (c.heads % c.key_heads() != 0) {
    return "num_heads = " + std::to_string(c.heads) +
           " is not divisible by num_kv_heads = " + std::to_string(c.num_kv_heads);
  }
  if (c.rope_low_freq_factor >= c.rope_high_freq_factor) {
    return "rope_low_freq_factor must be below rope_high_freq_factor";
  }
  return {};
}

// The embedding also computes the angles of the text's positions, which the attention blocks read
// as named activations.
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

// Tokens, int64 (B, T), to (B, T, width).
class LlamaEmbedding final : public Block {
 public:
  explicit LlamaEmbedding(const LlamaConfig& config)
      : context_(config.context), frequencies_(rope_frequencies(config.rope())) {
    table_ =
        register_module("embed_tokens", std::make_shared<Embedding>(Embedding::Options{
                                            .rows = config.vocabulary, .width = config.width}));
  }

  Activations forward(Activations in, const Context& context) override {
    const at::Tensor places = positions_of(in.main, context, context_);
    // Computed in float64 and rounded once, so that large positions are as exact as small ones.
    const at::Tensor angles =
        at::outer(places.to(at::kDouble),
                  at::tensor(frequencies_, at::kDouble).to(places.device(), /*non_blocking=*/true));
    in.main = table_->forward(in.main, context);
    in.set(kCosines, angles.cos().to(in.main.scalar_type()));
    in.set(kSines, angles.sin().to(in.main.scalar_type()));
    return in;
  }

  double forward_flops(const data::Form&) const override { return 0; }
  const at::Tensor& table() const noexcept { return table_->weight; }

 private:
  std::int64_t context_;
  std::vector<double> frequencies_;
  std::shared_ptr<Embedding> table_;
};

class LlamaAttention final : public Block {
 public:
  LlamaAttention(const LlamaConfig& config, int layer)
      : head_width_(config.width / config.heads), layer_(layer) {
    const std::int64_t width = config.width, shared = config.key_heads() * head_width_;
    norm_ = register_module("input_layernorm", llama_norm(config));
    const auto self = register_module("self_attn", std::make_shared<Module>("self_attn"));
    q_proj_ = self->register_module("q_proj", llama_linear(width, width));
    k_proj_ = self->register_module("k_proj", llama_linear(width, shared));
    v_proj_ = self->register_module("v_proj", llama_linear(width, shared));
    o_proj_ = self->register_module("o_proj", llama_linear(width, width));
  }

  Activations forward(Activations in, const Context& context) override {
    const at::Tensor x = norm_->forward(in.main, context);
    const std::int64_t batch = x.size(0), length = x.size(1);
    const auto heads_of = [&](const Linear& projection) {
      return projection.forward(x, context).view({batch, length, -1, head_width_}).transpose(1, 2);
    };
    const at::Tensor &cosines = in.get(kCosines), &sines = in.get(kSines);
    const at::Tensor queries = turned(heads_of(*q_proj_), cosines, sines);
    const at::Tensor keys = turned(heads_of(*k_proj_), cosines, sines);
    const at::Tensor out = attend(queries, keys, heads_of(*v_proj_), {.layer = layer_}, context);
    in.main = in.main + o_proj_->forward(out.transpose(1, 2).reshape({batch, length, -1}), context);
    return in;
  }

  double forward_flops(const data::Form& form) const override {
    const double length = positions_of(form);
    const auto width = static_cast<double>(q_proj_->weight.size(0));
    // Two products of (T, D) with (D, T) per head, without the half that the causal mask excludes.
    return Block::forward_flops(form) + 2 * length * (length + 1) * width;
  }

 private:
  std::int64_t head_width_;
  int layer_;
  std::shared_ptr<Norm> norm_;
  std::shared_ptr<Linear> q_proj_, k_proj_, v_proj_, o_proj_;
};

// down(silu(gate(x)) * up(x)).
class LlamaMlp final : public Block {
 public:
  explicit LlamaMlp(const LlamaConfig& config) {
    const std::int64_t width = config.width, inner = config.mlp_width();
    norm_ = register_module("post_attention_layernorm", llama_norm(config));
    const auto mlp = register_module("mlp", std::make_shared<Module>("mlp"));
    gate_proj_ = mlp->register_module("gate_proj", llama_linear(width, inner));
    up_proj_ = mlp->register_module("up_proj", llama_linear(width, inner));
    down_proj_ = mlp->register_module("down_proj", llama_linear(inner, width));
  }

  Activations forward(Activations in, const Context& context) override {
    const at::Tensor x = norm_->forward(in.main, context);
    const at::Tensor hidden =
        at::silu(gate_proj_->forward(x, context)) * up_proj_->forward(x, context);
    in.main = in.main + down_proj_->forward(hidden, context);
    return in;
  }

 private:
  std::shared_ptr<Norm> norm_;
  std::shared_ptr<Linear> gate_proj_, up_proj_, down_proj_;
};

// (B, T, width) to logits (B, T, vocabulary).
class LlamaHead final : public Block {
 public:
  // `table` is the tied weight; undefined if the head has its own.
  LlamaHead(const LlamaConfig& config, const at::Tensor& table) {
    const auto model = register_module("model", std::make_shared<Module>("model"));
    norm_ = model->register_module("norm", llama_norm(config));
    lm_head_ =
        register_module("lm_head", table.defined() ? std::make_shared<Linear>(table)
                                                   : llama_linear(config.width, config.vocabulary));
  }

  Activations forward(Activations in, const Context& context) override {
    in.main = lm_head_->forward(norm_->forward(in.main, context), context);
    in.drop(kCosines);
    in.drop(kSines);
    return in;
  }

 private:
  std::shared_ptr<Norm> norm_;
  std::shared_ptr<Linear> lm_head_;
};

}  // namespace

void LlamaConfig::describe(config::Fields<LlamaConfig>& f) {
  using T = LlamaConfig;
  f.add("vocab_size", &T::vocabulary)
      .synonyms({"vocabulary", "n_vocab"})
      .range(0, 1 << 24)
      .unit("tokens")
      .help("vocabulary size; 0: that of the data");
  f.add("max_seq_len", &T::context)
      .synonyms({"context", "block_size", "context_length", "max_position_embeddings"})
      .range(0, 1 << 24)
      .unit("tokens")
      .help("maximum sequence length; 0: that of the data's samples");
  f.add("hidden_size", &T::width)
      .synonyms({"width", "n_embd", "d_model", "dim"})
      .range(2, 1 << 16)
      .help("embedding dimension");
  f.add("num_layers", &T::layers)
      .synonyms({"layers", "n_layer", "n_layers", "num_hidden_layers"})
      .range(1, 1024)
      .help("number of transformer layers");
  f.add("num_heads", &T::heads)
      .synonyms({"heads", "n_head", "n_heads", "num_attention_heads"})
      .range(1, 1024)
      .help("number of attention heads");
  f.add("num_kv_heads", &T::num_kv_heads)
      .synonyms({"n_kv_heads", "num_key_value_heads"})
      .range(0, 1024)
      .help("number of key/value heads (grouped-query attention); 0: the same as num_heads");
  f.add("intermediate_size", &T::hidden)
      .synonyms({"hidden", "ffn_dim", "hidden_dim"})
      .range(0, 1 << 20)
      .help("hidden size of each mlp; 0: 8/3 of hidden_size, rounded up to a multiple of 64");
  f.add("tie_word_embeddings", &T::tie_word_embeddings)
      .help("tie the output layer's weight to the token embedding");
  f.add("norm_eps", &T::norm_eps)
      .synonyms({"rms_norm_eps"})
      .range(0.0, 1.0)
      .help("epsilon of the RMS norms");
  f.add("rope_theta", &T::rope_theta)
      .synonyms({"rope_base"})
      .range(1.0, 1e12)
      .help("base of the rotary position frequencies (rope_theta)");
  f.add("rope_scaling", &T::rope_scaling)
      .names({{"none", RopeScaling::None},
              {"linear", RopeScaling::Linear},
              {"llama3", RopeScaling::Llama3}})
      .help("scaling of rotary positions for longer sequences");
  f.add("rope_factor", &T::rope_factor).range(1.0, 1e6).help("factor of the scaling");
  f.add("rope_low_freq_factor", &T::rope_low_freq_factor)
      .range(0.0, 1e6)
      .help(
          "llama3: below this frequency (rotations within the original context) the full factor "
          "applies");
  f.add("rope_high_freq_factor", &T::rope_high_freq_factor)
      .range(0.0, 1e6)
      .help("llama3: above this frequency positions are not scaled");
  f.add("rope_original_max_seq_len", &T::rope_original_max_seq_len)
      .at_least(1)
      .unit("tokens")
      .help("llama3: maximum sequence length before the scaling");
  f.require(complaint_of_heads);
}

Llama::Llama(const LlamaConfig& config, const data::Form& form) : config_(config) {
  const TextSize size = text_size("llama", {config.vocabulary, config.context}, form);
  config_.vocabulary = size.vocabulary;
  config_.context = size.context;
  const auto embedding = std::make_shared<LlamaEmbedding>(config_);
  add("model", embedding);
  for (int layer = 0; layer < config_.layers; ++layer) {
    const std::string path = "model.layers." + std::to_string(layer);
    add(path, std::make_shared<LlamaAttention>(config_, layer));
    add(path, std::make_shared<LlamaMlp>(config_));
  }
  add("", std::make_shared<LlamaHead>(
              config_, config_.tie_word_embeddings ? embedding->table() : at::Tensor()));
}

Start Llama::start_of(const std::string&, const at::Tensor& parameter) const {
  return parameter.dim() < 2 ? Start::constant(1) : Start::normal(0.02);
}

std::vector<SplitRule> Llama::split_rules() const {
  using enum SplitRule::Cut;
  const std::int64_t head_dim = config_.width / config_.heads;
  const std::string layer = "model.layers.*.";
  const auto shared = [&](const char* name) {
    return SplitRule{.layers = layer + name, .unit = head_dim, .what = "num_kv_heads"};
  };
  return {
      {.layers = "model.embed_tokens", .cut = Vocabulary},
      {.layers = layer + "self_attn.q_proj", .unit = head_dim, .what = "num_heads"},
      shared("self_attn.k_proj"),
      shared("self_attn.v_proj"),
      {.layers = layer + "self_attn.o_proj", .cut = Inputs, .unit = head_dim, .what = "num_heads"},
      {.layers = layer + "mlp.gate_proj"},
      {.layers = layer + "mlp.up_proj"},
      {.layers = layer + "mlp.down_proj", .cut = Inputs},
      {.layers = "lm_head", .cut = Vocabulary}};
}

void add_llama(ModelRegistry& registry) {
  registry.add<LlamaConfig, Llama>("llama", "a decoder-only transformer of the Llama family");
}

}  // namespace trireme::model
