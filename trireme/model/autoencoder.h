// Autoencoder squeezes a sample into a short code and tells it again from that: layers of neurons
// with a rectifier between them, none at the code and none at the end. A block each.
//
// Names:   encoder.0.weight, encoder.0.bias ... decoder.0.weight ...
// Output:  (B, numbers of a sample).
// Failure: InvalidInput where targets are not the samples themselves: data.target = "input".

#pragma once

#include "trireme/model/autoencoder_config.h"
#include "trireme/model/block_model.h"

namespace trireme::model {

class Autoencoder final : public BlockModel {
 public:
  Autoencoder(const AutoencoderConfig& config, const data::Form& form);

  // The codes of a batch, (B, code).
  at::Tensor encode(const at::Tensor& input, const Context& context);
  // What they stand for, (B, numbers of a sample).
  at::Tensor decode(const at::Tensor& codes, const Context& context);

 private:
  std::size_t encoder_blocks_ = 0;
};

}  // namespace trireme::model
