#include "trireme/model/linear_model/linear_model.h"

#include "trireme/base/error.h"
#include "trireme/model/layer/linear.h"
#include "trireme/model/mlp/mlp.h"

namespace trireme::model {
namespace {

class OnlyLayer final : public Block {
 public:
  explicit OnlyLayer(const Linear::Options& options) : linear_(std::make_shared<Linear>(options)) {
    register_parameter("weight", linear_->weight);
    if (options.has_bias) register_parameter("bias", linear_->bias);
  }

  Activations forward(Activations in, const Context& context) override {
    in.main = linear_->forward(in.main.flatten(1), context);
    return in;
  }

 private:
  std::shared_ptr<Linear> linear_;
};

}  // namespace

LinearModel::LinearModel(const LinearModelConfig& config, const data::Form& form) {
  require_numbers("linear", form);
  if (form.classes != 0) {
    throw Error(ErrorCode::InvalidInput,
                "a linear model predicts numbers, and these targets are classes; use "
                "model.kind=logistic");
  }
  add_layer(form, config.bias);
}

LinearModel::LinearModel(const LogisticConfig& config, const data::Form& form) {
  require_numbers("logistic", form);
  if (form.classes == 0) {
    throw Error(ErrorCode::InvalidInput,
                "a logistic model predicts classes, and these targets are numbers; use "
                "model.kind=linear");
  }
  add_layer(form, config.bias);
}

void LinearModel::add_layer(const data::Form& form, bool has_bias) {
  add("", std::make_shared<OnlyLayer>(Linear::Options{
              .inputs = form.input_count(), .outputs = outputs_for(form), .has_bias = has_bias}));
}

}  // namespace trireme::model
