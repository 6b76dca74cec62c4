// Mlp consists of fully connected layers with ReLU between them; each layer is a block. A sample of
// any shape is flattened to one row.
//
// Names:  layers.0.weight, layers.0.bias, layers.1.weight ...
// Errors: InvalidInput if samples are tokens, or the data determine neither the number of classes
//         nor the targets.

#pragma once

#include <cstdint>
#include <vector>

#include "trireme/base/config/fields.h"
#include "trireme/model/block_model.h"

namespace trireme::model {

struct MlpConfig {
  std::vector<std::int64_t> widths = {512, 512};
  double dropout = 0;

  static void describe(config::Fields<MlpConfig>& f) {
    f.add("hidden_sizes", &MlpConfig::widths)
        .synonyms({"widths", "hidden_size", "hidden_dims"})
        .range(1, 1 << 20)
        .help("hidden sizes, first to last");
    f.add("dropout", &MlpConfig::dropout)
        .range(0.0, 0.99)
        .help("dropout probability of the hidden layers");
  }
};

class Mlp final : public BlockModel {
 public:
  Mlp(const MlpConfig& config, const data::Form& form);
  // Layers in pairs; with an odd number of layers, the last one is whole.
  std::vector<SplitRule> split_rules() const override;
};

}  // namespace trireme::model
