// Resnet is a residual network for images (He et al. 2016): a stem, three or four stages of
// residual blocks, the mean over the image, and a last layer. Depth 50 has bottleneck blocks of
// three convolutions, with the stride in the middle one; the others have two.
//
// With the defaults on images of 28 x 28 and 10 classes it has 696,042 parameters.
//
// Names:  those of torchvision: conv1.weight, bn1.weight, layer1.0.conv1.weight,
//         layer2.0.downsample.0.weight, fc.weight ...
// Errors: InvalidInput if samples are not images (channels, height, width).

#pragma once

#include "trireme/model/block_model.h"
#include "trireme/model/resnet/resnet_config.h"

namespace trireme::model {

class Resnet final : public BlockModel {
 public:
  Resnet(const ResnetConfig& config, const data::Form& form);

  // Convolutions by their fan-out (He et al. 2015), the last layer as in PyTorch.
  Start start_of(const std::string& name, const at::Tensor& parameter) const override;
};

}  // namespace trireme::model
