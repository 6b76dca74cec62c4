#include "trireme/model/mlp/mlp.h"

#include <ATen/ops/relu.h>

#include "trireme/base/error.h"
#include "trireme/model/layer/dropout.h"
#include "trireme/model/layer/linear.h"

namespace trireme::model {
namespace {

class MlpLayer final : public Block {
 public:
  struct Options {
    Linear::Options linear;
    int index;
    bool is_last;
    double dropout;
  };

  explicit MlpLayer(const Options& options)
      : options_(options), linear_(std::make_shared<Linear>(options.linear)) {
    // The layer's tensors are registered by the block itself, so that their names are
    // layers.0.weight.
    register_parameter("weight", linear_->weight);
    register_parameter("bias", linear_->bias);
  }

  Activations forward(Activations in, const Context& context) override {
    const at::Tensor x = options_.index == 0 ? in.main.flatten(1) : in.main;
    at::Tensor y = linear_->forward(x, context);
    if (!options_.is_last) {
      y = dropout(y.relu_(), options_.dropout, options_.index, context);
    }
    in.main = y;
    return in;
  }

  double forward_flops(const data::Form&) const override {
    return 2.0 * static_cast<double>(linear_->weight.numel());
  }

 private:
  Options options_;
  std::shared_ptr<Linear> linear_;
};

}  // namespace

std::int64_t outputs_for(const data::Form& form) {
  if (!form.tasks.empty()) {
    throw Error(ErrorCode::InvalidInput,
                "the data have several targets per sample; use model.kind=multitask");
  }
  const std::int64_t outputs = form.classes ? form.classes : form.target_count();
  if (outputs < 1) {
    throw Error(ErrorCode::InvalidInput, "the data have no classes and no numbers to predict");
  }
  return outputs;
}

void require_numbers(const std::string& model, const data::Form& form) {
  if (at::isFloatingType(form.input_type)) return;
  throw Error(ErrorCode::InvalidInput,
              (model.starts_with('a') ? "an " : "a ") + model +
                  " requires numbers, and these samples are tokens; use model.kind=gpt, or "
                  "data of another kind");
}

Mlp::Mlp(const MlpConfig& config, const data::Form& form) {
  require_numbers("mlp", form);
  std::int64_t inputs = form.input_count();
  const std::size_t count = config.widths.size() + 1;
  for (std::size_t i = 0; i < count; ++i) {
    const bool is_last = i + 1 == count;
    const std::int64_t outputs = is_last ? outputs_for(form) : config.widths[i];
    add("layers." + std::to_string(i), std::make_shared<MlpLayer>(MlpLayer::Options{
                                           .linear = {.inputs = inputs, .outputs = outputs},
                                           .index = static_cast<int>(i),
                                           .is_last = is_last,
                                           .dropout = config.dropout}));
    inputs = outputs;
  }
}

}  // namespace trireme::model
