// Autoencoder compresses a sample to a short code and reconstructs it: fully connected layers with
// ReLU between them, without ReLU at the code and at the end. Each layer is a block.
//
// Names:  encoder.0.weight, encoder.0.bias ... decoder.0.weight ...
// Output: (B, numbers per sample).
// Errors: InvalidInput if targets are not the samples themselves: set data.target = "input".

#pragma once

#include "trireme/model/block_model.h"

namespace trireme::model {

struct AutoencoderConfig;

class Autoencoder final : public BlockModel {
 public:
  Autoencoder(const AutoencoderConfig& config, const data::Form& form);

  // Encodes a batch to codes (B, code).
  at::Tensor encode(const at::Tensor& input, const Context& context);
  // Reconstructs samples from codes, (B, numbers per sample).
  at::Tensor decode(const at::Tensor& codes, const Context& context);

 private:
  std::size_t encoder_blocks_ = 0;
};

}  // namespace trireme::model
