// Mlp consists of fully connected layers with ReLU between them; each layer is a block. A sample of
// any shape is flattened to one row.
//
// Names:  layers.0.weight, layers.0.bias, layers.1.weight ...
// Errors: InvalidInput if samples are tokens, or the data determine neither the number of classes
//         nor the targets.

#pragma once

#include <string>

#include "trireme/model/block_model.h"
#include "trireme/model/mlp/mlp_config.h"

namespace trireme::model {

class Mlp final : public BlockModel {
 public:
  Mlp(const MlpConfig& config, const data::Form& form);
};

// The number of outputs of a model for such data: classes, or the numbers of a target. Errors:
// InvalidInput if there are several tasks.
std::int64_t outputs_for(const data::Form& form);

// Errors: throws InvalidInput if samples are tokens.
void require_numbers(const std::string& model, const data::Form& form);

}  // namespace trireme::model
