#include "trireme/model/lstm/lstm.h"

#include <ATen/ops/lstm.h>
#include <ATen/ops/zeros.h>

#include <cmath>
#include <tuple>
#include <vector>

#include "trireme/model/layer/dropout.h"
#include "trireme/model/layer/embedding.h"
#include "trireme/model/layer/key_value_cache.h"
#include "trireme/model/layer/linear.h"
#include "trireme/model/text_size.h"

namespace trireme::model {
namespace {

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
      weights_.push_back(register_parameter(name + end, at::zeros({4 * width_, width_})));
    }
    for (const char* name : {"bias_ih", "bias_hh"}) {
      weights_.push_back(register_parameter(name + end, at::zeros({4 * width_})));
    }
  }

  Activations forward(Activations in, const Context& context) override {
    std::vector<at::Tensor> memory(
        2, at::zeros({1, in.main.size(0), width_}, in.main.options().requires_grad(false)));
    if (context.cache && !context.cache->carried(layer_).empty()) {
      memory = context.cache->carried(layer_);
    }
    const auto [out, hidden, cell] =
        at::lstm(in.main, memory, weights_, /*has_biases=*/true, /*num_layers=*/1,
                 /*dropout=*/0.0, context.is_training, /*bidirectional=*/false,
                 /*batch_first=*/true);
    if (context.cache) context.cache->carried(layer_) = {hidden, cell};
    in.main = dropout(out, dropout_, 1 + layer_, context);
    return in;
  }

 private:
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

LstmConfig sized_lstm(LstmConfig config, const data::Form& form) {
  // There is no maximum text length, so any context works.
  config.vocabulary = text_size("lstm", {config.vocabulary, kAnyContext}, form).vocabulary;
  return config;
}

}  // namespace

Lstm::Lstm(const LstmConfig& config, const data::Form& form) : config_(sized_lstm(config, form)) {
  const auto embedding = std::make_shared<LstmEmbedding>(config_);
  add("", embedding);
  for (int layer = 0; layer < config_.layers; ++layer) {
    add("lstm", std::make_shared<LstmLayer>(config_, layer));
  }
  add("", std::make_shared<LstmHead>(
              config_, config_.tie_word_embeddings ? embedding->table() : at::Tensor()));
}

Start Lstm::start_of(const std::string& name, const at::Tensor& parameter) const {
  if (name == "embedding.weight") return Start::normal(config_.tie_word_embeddings ? 0.02 : 1);
  if (!name.starts_with("lstm.")) return BlockModel::start_of(name, parameter);
  return Start::uniform(1 / std::sqrt(static_cast<double>(config_.width)));
}

}  // namespace trireme::model
