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
  bool tie_word_embeddings = true;
  bool bias = true;
  double norm_eps = 1e-5;

  static void describe(config::Fields<GptConfig>& f) {
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
};

}  // namespace trireme::model
