// LinearModel is one layer from all numbers of a sample to the prediction: linear regression if
// targets are numbers, logistic regression if they are classes.
//
// Names:  weight, bias.
// Errors: InvalidInput if samples are tokens, or targets do not match the kind.

#pragma once

#include "trireme/model/block_model.h"
#include "trireme/model/linear_model/linear_model_config.h"

namespace trireme::model {

class LinearModel final : public BlockModel {
 public:
  LinearModel(const LinearModelConfig& config, const data::Form& form);
  LinearModel(const LogisticConfig& config, const data::Form& form);

  // All zeros: the loss is convex, so every starting point leads to the same minimum.
  Start start_of(const std::string&, const at::Tensor&) const override {
    return Start::constant(0);
  }

 private:
  void add_layer(const data::Form& form, bool has_bias);
};

}  // namespace trireme::model
