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
    f.add("patch", &VitConfig::patch)
        .range(1, 1024)
        .unit("pixels")
        .help("side of the squares that an image is cut into");
    f.add("width", &VitConfig::width).range(1, 1 << 16).help("values that stand for a square");
    f.add("layers", &VitConfig::layers).range(1, 1024).help("pairs of attention and mlp");
    f.add("heads", &VitConfig::heads).range(1, 1024).help("heads of each attention");
    f.add("dropout", &VitConfig::dropout)
        .range(0.0, 0.99)
        .help("share that training drops of embeddings and of what each layer adds");
    f.require([](const VitConfig& c) {
      return c.width % c.heads == 0 ? std::string()
                                    : "width = " + std::to_string(c.width) +
                                          " cannot be shared by heads = " + std::to_string(c.heads);
    });
  }
};

}  // namespace trireme::model
