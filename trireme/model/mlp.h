// Mlp is layers of neurons with a rectifier between them; a block each. What a sample is does not
// matter: it is read as one row.
//
// Names:   layers.0.weight, layers.0.bias, layers.1.weight ...
// Failure: InvalidInput where samples are tokens, or the data say neither how many classes nor what
//          is predicted.

#pragma once

#include <string>

#include "trireme/model/block_model.h"
#include "trireme/model/mlp_config.h"

namespace trireme::model {

class Mlp final : public BlockModel {
 public:
  Mlp(const MlpConfig& config, const data::Form& form);
};

// What a model of such data has to give: classes, or the numbers of a target. InvalidInput where
// it is several tasks.
std::int64_t outputs_for(const data::Form& form);

// Throws InvalidInput where samples are tokens.
void require_numbers(const std::string& model, const data::Form& form);

}  // namespace trireme::model
