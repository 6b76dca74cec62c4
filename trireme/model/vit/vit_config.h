// VitConfig: the shape of a vision transformer.

#pragma once

#include <cstdint>
#include <string>

#include "trireme/base/config/fields.h"

namespace trireme::model {

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

}  // namespace trireme::model
