// Audio is a small network that classifies spoken words from spectrograms: a first convolution that
// is long in time and quarters the image; pairs of a depthwise and a pointwise convolution, each
// with norm and ReLU; the mean over the image; and a last layer. Each of these is a block.
//
// Input:  (B, channels, bands, times), as data of kind audio provide.
// Names:  stem.conv.weight, stem.norm.weight ... layers.0.within.weight, layers.0.across.weight,
//         layers.0.norm1.weight ... head.fc.weight
// Errors: InvalidInput if samples are not images, or are smaller than the first convolution.

#pragma once

#include <string>

#include "trireme/model/audio/audio_config.h"
#include "trireme/model/block_model.h"

namespace trireme::model {

class Audio final : public BlockModel {
 public:
  Audio(const AudioConfig& config, const data::Form& form);

  Start start_of(const std::string& name, const at::Tensor& parameter) const override;
};

}  // namespace trireme::model
