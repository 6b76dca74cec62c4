// Vit is a vision transformer (Dosovitskiy et al. 2021): the patches of an image and a class token
// pass through layers of attention and mlp, with norms before each; the class is predicted from its
// token.
//
// Names:  patch.weight, token, places, layers.0.ln_1.weight, layers.0.attn.c_attn.weight,
//         layers.0.mlp.c_fc.weight, ln_f.weight, head.weight ...
// Errors: InvalidInput if samples are not images, or cannot be cut into whole patches.

#include <ATen/ops/cat.h>
#include <ATen/ops/conv2d.h>
#include <ATen/ops/gelu.h>

#include <cstdint>
#include <string>

#include "trireme/base/config/fields.h"
#include "trireme/base/error.h"
#include "trireme/model/block_model.h"
#include "trireme/model/feature_size.h"
#include "trireme/model/layer/attention.h"
#include "trireme/model/layer/dropout.h"
#include "trireme/model/layer/linear.h"
#include "trireme/model/layer/norm.h"
#include "trireme/model/registry.h"
#include "trireme/model/without_memory.h"

namespace trireme::model {
namespace {

struct VitConfig {
  std::int64_t patch = 4;
  std::int64_t width = 192;
  std::int64_t layers = 6;
  std::int64_t heads = 3;
  double dropout = 0;

  static void describe(config::Fields<VitConfig>& f) {
    f.add("patch_size", &VitConfig::patch)
        .synonyms({"patch"})
        .range(1, 1024)
        .unit("pixels")
        .help("patch size");
    f.add("hidden_size", &VitConfig::width)
        .synonyms({"width", "embed_dim", "dim"})
        .range(1, 1 << 16)
        .help("embedding dimension");
    f.add("num_layers", &VitConfig::layers)
        .synonyms({"layers", "depth", "num_hidden_layers"})
        .range(1, 1024)
        .help("number of transformer layers");
    f.add("num_heads", &VitConfig::heads)
        .synonyms({"heads", "num_attention_heads"})
        .range(1, 1024)
        .help("number of attention heads");
    f.add("dropout", &VitConfig::dropout)
        .range(0.0, 0.99)
        .help("dropout probability of embeddings and residual branches");
    f.require([](const VitConfig& c) {
      return c.width % c.heads == 0
                 ? std::string()
                 : "hidden_size = " + std::to_string(c.width) +
                       " is not divisible by num_heads = " + std::to_string(c.heads);
    });
  }
};

using torch::nn::Module;

// (B, C, H, W) to (B, 1 + patches, width), with the class token first.
class VitPatches final : public Block {
 public:
  VitPatches(const VitConfig& config, const FeatureSize& image)
      : squares_(image.height / config.patch * (image.width / config.patch)),
        patch_(config.patch),
        dropout_(config.dropout) {
    const auto patch = register_module("patch", std::make_shared<Module>("patch"));
    weight_ = patch->register_parameter(
        "weight", zero_parameter({config.width, image.channels, config.patch, config.patch}));
    bias_ = patch->register_parameter("bias", zero_parameter({config.width}));
    token_ = register_parameter("token", zero_parameter({1, 1, config.width}));
    places_ = register_parameter("places", zero_parameter({1, 1 + squares_, config.width}));
  }

  Activations forward(Activations in, const Context& context) override {
    at::Tensor x = at::conv2d(in.main, weight_, bias_, patch_).flatten(2).transpose(1, 2);
    x = at::cat({token_.expand({x.size(0), 1, -1}).to(x.scalar_type()), x}, 1) + places_;
    in.main = dropout(x, dropout_, 0, context);
    return in;
  }

  double forward_flops(const data::Form&) const override {
    return 2.0 * static_cast<double>(weight_.numel() * squares_);
  }
  double tokens() const noexcept { return static_cast<double>(1 + squares_); }

 private:
  std::int64_t squares_, patch_;
  double dropout_;
  at::Tensor weight_, bias_, token_, places_;
};

class VitAttention final : public Block {
 public:
  VitAttention(const VitConfig& config, int layer, double tokens)
      : dropout_(config.dropout), number_(1 + 2 * layer), tokens_(tokens) {
    norm_ = register_module("ln_1", std::make_shared<Norm>(Norm::Options{.width = config.width}));
    attention_ = register_module(
        "attn",
        std::make_shared<Attention>(Attention::Options{
            .width = config.width, .heads = config.heads, .layer = layer, .is_causal = false}));
  }

  Activations forward(Activations in, const Context& context) override {
    const at::Tensor x = attention_->forward(norm_->forward(in.main, context), context);
    in.main = in.main + dropout(x, dropout_, number_, context);
    return in;
  }

  double forward_flops(const data::Form& form) const override {
    const auto width = static_cast<double>(attention_->c_proj->weight.size(0));
    return tokens_ * (Block::forward_flops(form) + 4 * tokens_ * width);
  }

 private:
  double dropout_;
  int number_;  // for dropout
  double tokens_;
  std::shared_ptr<Norm> norm_;
  std::shared_ptr<Attention> attention_;
};

class VitMlp final : public Block {
 public:
  VitMlp(const VitConfig& config, int layer, double tokens)
      : dropout_(config.dropout), number_(2 + 2 * layer), tokens_(tokens) {
    const std::int64_t width = config.width;
    norm_ = register_module("ln_2", std::make_shared<Norm>(Norm::Options{.width = width}));
    const auto mlp = register_module("mlp", std::make_shared<Module>("mlp"));
    first_ = mlp->register_module(
        "c_fc", std::make_shared<Linear>(Linear::Options{.inputs = width, .outputs = 4 * width}));
    second_ = mlp->register_module(
        "c_proj", std::make_shared<Linear>(Linear::Options{.inputs = 4 * width, .outputs = width}));
  }

  Activations forward(Activations in, const Context& context) override {
    const at::Tensor hidden = at::gelu(first_->forward(norm_->forward(in.main, context), context));
    in.main = in.main + dropout(second_->forward(hidden, context), dropout_, number_, context);
    return in;
  }

  double forward_flops(const data::Form& form) const override {
    return tokens_ * Block::forward_flops(form);
  }

 private:
  double dropout_;
  int number_;  // for dropout
  double tokens_;
  std::shared_ptr<Norm> norm_;
  std::shared_ptr<Linear> first_, second_;
};

class VitHead final : public Block {
 public:
  VitHead(std::int64_t width, std::int64_t outputs) {
    norm_ = register_module("ln_f", std::make_shared<Norm>(Norm::Options{.width = width}));
    head_ = register_module(
        "head", std::make_shared<Linear>(Linear::Options{.inputs = width, .outputs = outputs}));
  }

  Activations forward(Activations in, const Context& context) override {
    in.main = head_->forward(norm_->forward(in.main.select(1, 0), context), context);
    return in;
  }

 private:
  std::shared_ptr<Norm> norm_;
  std::shared_ptr<Linear> head_;
};

class Vit final : public BlockModel {
 public:
  Vit(const VitConfig& config, const data::Form& form) : head_dim_(config.width / config.heads) {
    const FeatureSize image = image_size("vit", form);
    if (image.height % config.patch != 0 || image.width % config.patch != 0) {
      throw Error(ErrorCode::InvalidInput,
                  "images of " + std::to_string(image.height) + " x " +
                      std::to_string(image.width) +
                      " are not cut into whole squares of model.patch_size = " +
                      std::to_string(config.patch));
    }
    const auto patches = std::make_shared<VitPatches>(config, image);
    add("", patches);
    for (int layer = 0; layer < config.layers; ++layer) {
      const std::string path = "layers." + std::to_string(layer);
      add(path, std::make_shared<VitAttention>(config, layer, patches->tokens()));
      add(path, std::make_shared<VitMlp>(config, layer, patches->tokens()));
    }
    add("", std::make_shared<VitHead>(config.width, outputs_for(form)));
  }

  // Standard deviation 0.02; biases 0, norms 1.
  Start start_of(const std::string& name, const at::Tensor& parameter) const override {
    if (name.ends_with("bias")) return Start::constant(0);
    return parameter.dim() < 2 ? Start::constant(1) : Start::normal(0.02);
  }

  std::vector<SplitRule> split_rules() const override {
    using enum SplitRule::Cut;
    return {
        {.layers = "layers.*.attn.c_attn", .unit = head_dim_, .parts = 3, .what = "num_heads"},
        {.layers = "layers.*.attn.c_proj", .cut = Inputs, .unit = head_dim_, .what = "num_heads"},
        {.layers = "layers.*.mlp.c_fc"},
        {.layers = "layers.*.mlp.c_proj", .cut = Inputs}};
  }

 private:
  std::int64_t head_dim_;
};

}  // namespace

void add_vit(ModelRegistry& registry) {
  registry.add<VitConfig, Vit>("vit", "a vision transformer");
}

}  // namespace trireme::model
