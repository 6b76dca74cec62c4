// Audio is a small network that tells words from spectrograms: a first convolution that is long in
// time and quarters the picture, pairs of a convolution within each channel and one across
// channels, each with its norm and rectifier, the mean over the picture, a last layer. A block
// each.
//
// Input:   (B, channels, bands, times), as data of kind audio are.
// Names:   stem.conv.weight, stem.norm.weight ... layers.0.within.weight, layers.0.across.weight,
//          layers.0.norm1.weight ... head.fc.weight
// Failure: InvalidInput where samples are no pictures, or are smaller than its first convolution.

#pragma once

#include <string>

#include "trireme/model/audio_config.h"
#include "trireme/model/block_model.h"

namespace trireme::model {

class Audio final : public BlockModel {
 public:
  Audio(const AudioConfig& config, const data::Form& form);

  Start start_of(const std::string& name, const at::Tensor& parameter) const override;
};

}  // namespace trireme::model
