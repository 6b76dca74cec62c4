// Vit is a vision transformer (Dosovitskiy et al. 2021): the patches of an image and a class token
// pass through layers of attention and mlp, with norms before each; the class is predicted from its
// token.
//
// Names:  patch.weight, token, places, layers.0.ln_1.weight, layers.0.attn.c_attn.weight,
//         layers.0.mlp.c_fc.weight, ln_f.weight, head.weight ...
// Errors: InvalidInput if samples are not images, or cannot be cut into whole patches.

#pragma once

#include "trireme/model/block_model.h"
#include "trireme/model/vit/vit_config.h"

namespace trireme::model {

class Vit final : public BlockModel {
 public:
  Vit(const VitConfig& config, const data::Form& form);

  // Standard deviation 0.02; biases 0, norms 1.
  Start start_of(const std::string& name, const at::Tensor& parameter) const override;
};

}  // namespace trireme::model
