// LinearModel is one layer, from all of a sample's numbers to what is predicted: linear regression
// where targets are numbers, logistic regression where they are classes.
//
// Names:   weight, bias.
// Failure: InvalidInput where samples are tokens, or targets are not what the kind predicts.

#pragma once

#include "trireme/model/block_model.h"
#include "trireme/model/linear_model_config.h"

namespace trireme::model {

class LinearModel final : public BlockModel {
 public:
  LinearModel(const LinearModelConfig& config, const data::Form& form);
  LinearModel(const LogisticConfig& config, const data::Form& form);

  // All zeros: its loss has one least value, from wherever it begins.
  Start start_of(const std::string&, const at::Tensor&) const override {
    return Start::constant(0);
  }

 private:
  void add_layer(const data::Form& form, bool has_bias);
};

}  // namespace trireme::model
