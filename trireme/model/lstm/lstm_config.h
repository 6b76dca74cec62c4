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
  bool tied_head = false;

  static void describe(config::Fields<LstmConfig>& f) {
    f.add("vocabulary", &LstmConfig::vocabulary)
        .range(0, 1 << 24)
        .unit("tokens")
        .help("distinct tokens; 0: as many as the data have");
    f.add("width", &LstmConfig::width)
        .range(1, 1 << 16)
        .help("values that stand for a token, and that each layer remembers");
    f.add("layers", &LstmConfig::layers).range(1, 64).help("recurrent layers");
    f.add("dropout", &LstmConfig::dropout)
        .range(0.0, 0.99)
        .help("share that training drops of embeddings and of what each layer gives");
    f.add("tied_head", &LstmConfig::tied_head)
        .help("the last layer uses the token table as its weight");
  }
};

}  // namespace trireme::model
