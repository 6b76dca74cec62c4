// Vit is a vision transformer (Dosovitskiy et al. 2021): an image's squares and a token for the
// class go through layers of attention and mlp, norms before each; the class is read off its token.
//
// Names:   patch.weight, token, places, layers.0.ln_1.weight, layers.0.attn.c_attn.weight,
//          layers.0.mlp.c_fc.weight, ln_f.weight, head.weight ...
// Failure: InvalidInput where samples are no images, or are not cut into whole squares.

#pragma once

#include "trireme/model/block_model.h"
#include "trireme/model/vit_config.h"

namespace trireme::model {

class Vit final : public BlockModel {
 public:
  Vit(const VitConfig& config, const data::Form& form);

  // Deviation 0.02; biases 0, norms 1.
  Start start_of(const std::string& name, const at::Tensor& parameter) const override;
};

}  // namespace trireme::model
