// Cnn consists of convolutions, each followed by pooling and ReLU, a hidden layer and a last layer.
// With the defaults on images of 28 x 28 and 10 classes it has 1,663,370 parameters.
//
// Names:  conv1.weight, conv1.bias, conv2.weight ... fc1.weight, fc2.weight ...
// Errors: InvalidInput if samples are not images (channels, height, width).

#pragma once

#include "trireme/model/block_model.h"
#include "trireme/model/cnn/cnn_config.h"

namespace trireme::model {

class Cnn final : public BlockModel {
 public:
  Cnn(const CnnConfig& config, const data::Form& form);
};

}  // namespace trireme::model
