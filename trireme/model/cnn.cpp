#include "trireme/model/cnn.h"

#include <ATen/ops/conv2d.h>
#include <ATen/ops/max_pool2d.h>
#include <ATen/ops/zeros.h>

#include "trireme/base/error.h"
#include "trireme/model/dropout.h"
#include "trireme/model/feature_size.h"
#include "trireme/model/linear.h"
#include "trireme/model/mlp.h"

namespace trireme::model {
namespace {

class Convolution final : public Block {
 public:
  Convolution(const FeatureSize& in, std::int64_t channels, std::int64_t kernel)
      : in_(in), padding_(kernel / 2) {
    weight_ = register_parameter("weight", at::zeros({channels, in.channels, kernel, kernel}));
    bias_ = register_parameter("bias", at::zeros({channels}));
  }

  Activations forward(Activations in, const Context&) override {
    // Rectified after pooling: the same values from a quarter of the work, since the largest of
    // four is positive where it would have been after them.
    at::Tensor y = at::conv2d(in.main, weight_, bias_, /*stride=*/1, padding_);
    in.main = at::max_pool2d(y, 2).relu_();
    return in;
  }

  double forward_flops(const data::Form&) const override {
    return 2.0 * static_cast<double>(weight_.numel() * in_.height * in_.width);
  }

 private:
  FeatureSize in_;
  std::int64_t padding_;
  at::Tensor weight_, bias_;
};

class Dense final : public Block {
 public:
  struct Options {
    Linear::Options linear;
    bool is_last;
    double dropout;
  };

  explicit Dense(const Options& options)
      : options_(options), linear_(std::make_shared<Linear>(options.linear)) {
    register_parameter("weight", linear_->weight);
    register_parameter("bias", linear_->bias);
  }

  Activations forward(Activations in, const Context& context) override {
    at::Tensor y = linear_->forward(options_.is_last ? in.main : in.main.flatten(1), context);
    in.main = options_.is_last ? y : dropout(y.relu_(), options_.dropout, 0, context);
    return in;
  }

 private:
  Options options_;
  std::shared_ptr<Linear> linear_;
};

}  // namespace

Cnn::Cnn(const CnnConfig& config, const data::Form& form) {
  FeatureSize size = image_size("cnn", form);
  for (std::size_t i = 0; i < config.channels.size(); ++i) {
    add("conv" + std::to_string(i + 1),
        std::make_shared<Convolution>(size, config.channels[i], config.kernel));
    size = {config.channels[i], size.height / 2, size.width / 2};
  }
  const std::int64_t pixels = size.channels * size.height * size.width;
  if (pixels == 0) {
    throw Error(ErrorCode::InvalidInput, "nothing is left of these images after " +
                                             std::to_string(config.channels.size()) +
                                             " convolutions that halve them");
  }
  add("fc1",
      std::make_shared<Dense>(Dense::Options{.linear = {.inputs = pixels, .outputs = config.hidden},
                                             .is_last = false,
                                             .dropout = config.dropout}));
  add("fc2", std::make_shared<Dense>(
                 Dense::Options{.linear = {.inputs = config.hidden, .outputs = outputs_for(form)},
                                .is_last = true,
                                .dropout = 0}));
}

}  // namespace trireme::model
