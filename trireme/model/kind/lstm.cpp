// Lstm is a recurrent language model: token embeddings, LSTM layers and a head. Every sample begins
// with an empty state.
//
// Names:  embedding.weight; lstm.weight_ih_l0, lstm.weight_hh_l0, lstm.bias_ih_l0 ... as in
//         torch.nn.LSTM; head.weight, head.bias.
// Input:  int64 (B, T); output (B, T, vocabulary).
// Errors: InvalidInput if samples are not texts.

#include <ATen/ops/cat.h>
#include <ATen/ops/lstm.h>
#include <ATen/ops/zeros.h>

#include <cmath>
#include <cstdint>
#include <tuple>
#include <vector>

#include "trireme/base/config/fields.h"
#include "trireme/device/torch/autocast.h"
#include "trireme/model/block_model.h"
#include "trireme/model/layer/dropout.h"
#include "trireme/model/layer/embedding.h"
#include "trireme/model/layer/key_value_cache.h"
#include "trireme/model/layer/linear.h"
#include "trireme/model/registry.h"
#include "trireme/model/text_size.h"
#include "trireme/model/without_memory.h"

namespace trireme::model {
namespace {

struct LstmConfig {
  std::int64_t vocabulary = 0;
  std::int64_t width = 256;
  std::int64_t layers = 2;
  double dropout = 0;
  bool tie_word_embeddings = false;

  static void describe(config::Fields<LstmConfig>& f) {
    f.add("vocab_size", &LstmConfig::vocabulary)
        .range(0, 1 << 24)
        .unit("tokens")
        .help("vocabulary size; 0: that of the data");
    f.add("hidden_size", &LstmConfig::width)
        .range(1, 1 << 16)
        .help("embedding dimension and hidden size of each layer");
    f.add("num_layers", &LstmConfig::layers).range(1, 64).help("number of recurrent layers");
    f.add("dropout", &LstmConfig::dropout)
        .range(0.0, 0.99)
        .help("dropout probability of embeddings and of the output of each layer");
    f.add("tie_word_embeddings", &LstmConfig::tie_word_embeddings)
        .help("tie the output layer's weight to the token embedding");
  }
};

class LstmEmbedding final : public Block {
 public:
  explicit LstmEmbedding(const LstmConfig& config) : dropout_(config.dropout) {
    table_ = register_module("embedding", std::make_shared<Embedding>(Embedding::Options{
                                              .rows = config.vocabulary, .width = config.width}));
  }

  Activations forward(Activations in, const Context& context) override {
    in.main = dropout(table_->forward(in.main, context), dropout_, 0, context);
    return in;
  }
  double forward_flops(const data::Form&) const override { return 0; }
  const at::Tensor& table() const noexcept { return table_->weight; }

 private:
  double dropout_;
  std::shared_ptr<Embedding> table_;
};

class LstmLayer final : public Block {
 public:
  LstmLayer(const LstmConfig& config, int layer)
      : width_(config.width), dropout_(config.dropout), layer_(layer) {
    const std::string end = "_l" + std::to_string(layer);
    for (const char* name : {"weight_ih", "weight_hh"}) {
      weights_.push_back(register_parameter(name + end, zero_parameter({4 * width_, width_})));
    }
    for (const char* name : {"bias_ih", "bias_hh"}) {
      weights_.push_back(register_parameter(name + end, zero_parameter({4 * width_})));
    }
  }

  Activations forward(Activations in, const Context& context) override {
    std::vector<at::Tensor> memory(
        2, at::zeros({1, in.main.size(0), width_}, in.main.options().requires_grad(false)));
    if (context.cache && !context.cache->carried(layer_).empty()) {
      memory = context.cache->carried(layer_);
    }
    const auto [out, hidden, cell] =
        at::lstm(in.main, memory, weights_for(in.main), /*has_biases=*/true, /*num_layers=*/1,
                 /*dropout=*/0.0, context.is_training, /*bidirectional=*/false,
                 /*batch_first=*/true);
    if (context.cache) context.cache->carried(layer_) = {hidden, cell};
    in.main = dropout(out, dropout_, 1 + layer_, context);
    return in;
  }

 private:
  // cuDNN reads weights from one piece of memory. With autocast PyTorch makes that piece itself.
  std::vector<at::Tensor> weights_for(const at::Tensor& x) const {
    if (!x.is_cuda() || Autocast::type_on(at::kCUDA) != at::kFloat) return weights_;
    std::vector<at::Tensor> flat, parts;
    for (const at::Tensor& weight : weights_) flat.push_back(weight.flatten());
    const at::Tensor all = at::cat(flat);
    std::int64_t begin = 0;
    for (const at::Tensor& weight : weights_) {
      parts.push_back(all.narrow(0, begin, weight.numel()).view(weight.sizes()));
      begin += weight.numel();
    }
    return parts;
  }

  std::int64_t width_;
  double dropout_;
  int layer_;
  std::vector<at::Tensor> weights_;
};

class LstmHead final : public Block {
 public:
  LstmHead(const LstmConfig& config, const at::Tensor& table) {
    head_ = register_module(
        "head", table.defined() ? std::make_shared<Linear>(table)
                                : std::make_shared<Linear>(Linear::Options{
                                      .inputs = config.width, .outputs = config.vocabulary}));
  }

  Activations forward(Activations in, const Context& context) override {
    in.main = head_->forward(in.main, context);
    return in;
  }

 private:
  std::shared_ptr<Linear> head_;
};

class Lstm final : public BlockModel {
 public:
  Lstm(const LstmConfig& config, const data::Form& form) : config_(config) {
    // There is no maximum text length, so any context works.
    config_.vocabulary = text_size("lstm", {config.vocabulary, kAnyContext}, form).vocabulary;
    const auto embedding = std::make_shared<LstmEmbedding>(config_);
    add("", embedding);
    for (int layer = 0; layer < config_.layers; ++layer) {
      add("lstm", std::make_shared<LstmLayer>(config_, layer));
    }
    add("", std::make_shared<LstmHead>(
                config_, config_.tie_word_embeddings ? embedding->table() : at::Tensor()));
  }

  // As in PyTorch: layers uniform within 1 / sqrt(width), the table normal with standard deviation
  // 1 (0.02 if it is also the head).
  Start start_of(const std::string& name, const at::Tensor& parameter) const override {
    if (name == "embedding.weight") return Start::normal(config_.tie_word_embeddings ? 0.02 : 1);
    if (!name.starts_with("lstm.")) return BlockModel::start_of(name, parameter);
    return Start::uniform(1 / std::sqrt(static_cast<double>(config_.width)));
  }

 private:
  LstmConfig config_;
};

}  // namespace

void add_lstm(ModelRegistry& registry) {
  registry.add<LstmConfig, Lstm>("lstm", "a recurrent language model");
}

}  // namespace trireme::model
