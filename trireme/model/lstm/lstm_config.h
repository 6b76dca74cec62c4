// LstmConfig: the shape of a recurrent language model.

#pragma once

#include <cstdint>

#include "trireme/base/config/fields.h"

namespace trireme::model {

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

}  // namespace trireme::model
