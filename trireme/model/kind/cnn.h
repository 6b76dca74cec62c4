// Cnn consists of convolutions, each followed by pooling and ReLU, a hidden layer and a last layer.
// The defaults are the network for MNIST of McMahan et al., "Communication-efficient learning of
// deep networks from decentralized data", 2017: on images of 28 x 28 and 10 classes it has
// 1,663,370 parameters.
//
// Names:  conv1.weight, conv1.bias, conv2.weight ... fc1.weight, fc2.weight ...
// Errors: InvalidInput if samples are not images (channels, height, width).

#pragma once

#include <cstdint>
#include <vector>

#include "trireme/base/config/fields.h"
#include "trireme/model/block_model.h"
#include "trireme/model/simple_blocks.h"

namespace trireme::model {

struct CnnConfig {
  std::vector<std::int64_t> channels = {32, 64};
  std::int64_t kernel = 5;
  std::int64_t hidden = 512;
  double dropout = 0;

  static void describe(config::Fields<CnnConfig>& f) {
    f.add("channels", &CnnConfig::channels)
        .range(1, 1 << 16)
        .help("channels of each convolution, first to last; each halves the image");
    f.add("kernel_size", &CnnConfig::kernel)
        .synonyms({"kernel"})
        .range(1, 31)
        .check(mistake_in_kernel_size)
        .unit("pixels")
        .help("kernel size of the convolutions");
    f.add("hidden_size", &CnnConfig::hidden)
        .synonyms({"hidden"})
        .range(1, 1 << 20)
        .help("hidden size of the fully connected layer");
    f.add("dropout", &CnnConfig::dropout)
        .range(0.0, 0.99)
        .help("dropout probability of the hidden layer");
  }
};

class Cnn final : public BlockModel {
 public:
  Cnn(const CnnConfig& config, const data::Form& form);
};

}  // namespace trireme::model
