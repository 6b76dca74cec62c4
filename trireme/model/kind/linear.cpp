// LinearModel is one layer from all numbers of a sample to the prediction: linear regression if
// targets are numbers, logistic regression if they are classes.
//
// Names:  weight, bias.
// Errors: InvalidInput if samples are tokens, or targets do not match the kind.

#include "trireme/base/config/fields.h"
#include "trireme/base/error.h"
#include "trireme/model/block_model.h"
#include "trireme/model/feature_size.h"
#include "trireme/model/registry.h"
#include "trireme/model/simple_blocks.h"

namespace trireme::model {
namespace {

struct LinearModelConfig {
  bool bias = true;

  static void describe(config::Fields<LinearModelConfig>& f) {
    f.add("bias", &LinearModelConfig::bias).help("add a bias to each prediction");
  }
};

struct LogisticConfig {
  bool bias = true;

  static void describe(config::Fields<LogisticConfig>& f) {
    f.add("bias", &LogisticConfig::bias).help("add a bias to each class");
  }
};

class LinearModel final : public BlockModel {
 public:
  LinearModel(const LinearModelConfig& config, const data::Form& form) {
    require_numbers("linear", form);
    if (form.classes != 0) {
      throw Error(ErrorCode::InvalidInput,
                  "a linear model predicts numbers, and these targets are classes; use "
                  "model.kind=logistic");
    }
    add_layer(form, config.bias);
  }

  LinearModel(const LogisticConfig& config, const data::Form& form) {
    require_numbers("logistic", form);
    if (form.classes == 0) {
      throw Error(ErrorCode::InvalidInput,
                  "a logistic model predicts classes, and these targets are numbers; use "
                  "model.kind=linear");
    }
    add_layer(form, config.bias);
  }

  // All zeros: the loss is convex, so every starting point leads to the same minimum.
  Start start_of(const std::string&, const at::Tensor&) const override {
    return Start::constant(0);
  }

 private:
  void add_layer(const data::Form& form, bool has_bias) {
    add("", std::make_shared<Dense>(Dense::Options{.inputs = form.input_count(),
                                                   .outputs = outputs_for(form),
                                                   .has_bias = has_bias,
                                                   .is_last = true}));
  }
};

}  // namespace

void add_linear(ModelRegistry& registry) {
  registry.add<LinearModelConfig, LinearModel>("linear", "linear regression");
  registry.add<LogisticConfig, LinearModel>("logistic", "logistic regression");
}

}  // namespace trireme::model
