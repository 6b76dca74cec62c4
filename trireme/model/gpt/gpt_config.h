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
        .help("distinct tokens; 0: as many as the data have");
    f.add("context", &GptConfig::context)
        .range(0, 1 << 20)
        .unit("tokens")
        .help("longest text it can look at; 0: as long as the data's samples");
    f.add("width", &GptConfig::width).range(1, 1 << 16).help("values that stand for a token");
    f.add("layers", &GptConfig::layers).range(1, 1024).help("pairs of attention and mlp");
    f.add("heads", &GptConfig::heads).range(1, 1024).help("heads of each attention");
    f.add("dropout", &GptConfig::dropout)
        .range(0.0, 0.99)
        .help("share that training drops of embeddings and of what each layer adds");
    f.add("attention_dropout", &GptConfig::attention_dropout)
        .range(0.0, 0.99)
        .help("share that training drops of the weights with which tokens look at each other");
    f.add("tied_head", &GptConfig::tied_head)
        .help("the last layer uses the token table as its weight");
    f.add("bias", &GptConfig::bias).help("biases in linear layers and norms");
    f.add("norm_epsilon", &GptConfig::norm_epsilon)
        .range(0.0, 1.0)
        .help("added to variances in layer norms, so that they are never zero");
    f.require([](const GptConfig& c) {
      return c.width % c.heads == 0 ? std::string()
                                    : "width = " + std::to_string(c.width) +
                                          " cannot be shared by heads = " + std::to_string(c.heads);
    });
  }
};

}  // namespace trireme::model
