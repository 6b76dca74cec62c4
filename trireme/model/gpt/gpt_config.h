// GptConfig: a decoder-only transformer of the GPT-2 family. The defaults are those of the smallest
// GPT-2, except for values that follow from the data.

#pragma once

#include <cstdint>
#include <string>

#include "trireme/base/config/fields.h"

namespace trireme::model {

struct GptConfig {
  std::int64_t vocabulary = 0;
  std::int64_t context = 0;
  std::int64_t width = 768;
  std::int64_t layers = 12;
  std::int64_t heads = 12;
  double dropout = 0;
  double attention_dropout = 0;
  bool tied_head = true;
  bool bias = true;
  double norm_epsilon = 1e-5;

  static void describe(config::Fields<GptConfig>& f) {
    f.add("vocabulary", &GptConfig::vocabulary)
        .range(0, 1 << 24)
        .unit("tokens")
        .help("vocabulary size; 0: that of the data");
    f.add("context", &GptConfig::context)
        .range(0, 1 << 20)
        .unit("tokens")
        .help("maximum sequence length; 0: that of the data's samples");
    f.add("width", &GptConfig::width).range(1, 1 << 16).help("embedding dimension");
    f.add("layers", &GptConfig::layers).range(1, 1024).help("number of transformer layers");
    f.add("heads", &GptConfig::heads).range(1, 1024).help("number of attention heads");
    f.add("dropout", &GptConfig::dropout)
        .range(0.0, 0.99)
        .help("dropout probability of embeddings and residual branches");
    f.add("attention_dropout", &GptConfig::attention_dropout)
        .range(0.0, 0.99)
        .help("dropout probability of attention weights");
    f.add("tied_head", &GptConfig::tied_head)
        .help("tie the output layer's weight to the token embedding");
    f.add("bias", &GptConfig::bias).help("biases in linear layers and norms");
    f.add("norm_epsilon", &GptConfig::norm_epsilon)
        .range(0.0, 1.0)
        .help("epsilon of the layer norms");
    f.require([](const GptConfig& c) {
      return c.width % c.heads == 0 ? std::string()
                                    : "width = " + std::to_string(c.width) +
                                          " is not divisible by heads = " + std::to_string(c.heads);
    });
  }
};

}  // namespace trireme::model
