#include "trireme/model/simple_blocks.h"

#include <ATen/ops/conv2d.h>
#include <ATen/ops/max_pool2d.h>

#include "trireme/base/error.h"
#include "trireme/model/layer/dropout.h"
#include "trireme/model/without_memory.h"

namespace trireme::model {

// The layer is not a module of the block, whose parameters would then be called layer.weight.
Dense::Dense(const Options& options)
    : options_(options),
      layer_(std::make_shared<Linear>(Linear::Options{
          .inputs = options.inputs, .outputs = options.outputs, .has_bias = options.has_bias})) {
  register_parameter("weight", layer_->weight);
  if (options.has_bias) register_parameter("bias", layer_->bias);
}

Activations Dense::forward(Activations in, const Context& context) {
  at::Tensor y = layer_->forward(in.main.flatten(1), context);
  in.main = options_.is_last ? y
                             : dropout(y.relu_(), options_.dropout, options_.index, context,
                                       layer_->first_output);
  return in;
}

PooledConvolution::PooledConvolution(const FeatureSize& in, std::int64_t channels,
                                     std::int64_t kernel)
    : in_(in), padding_(kernel / 2) {
  weight_ = register_parameter("weight", zero_parameter({channels, in.channels, kernel, kernel}));
  bias_ = register_parameter("bias", zero_parameter({channels}));
}

Activations PooledConvolution::forward(Activations in, const Context&) {
  // ReLU after pooling gives the same values for a quarter of the work, because ReLU is monotonic.
  at::Tensor y = at::conv2d(in.main, weight_, bias_, /*stride=*/1, padding_);
  in.main = at::max_pool2d(y, 2).relu_();
  return in;
}

double PooledConvolution::forward_flops(const data::Form&) const {
  return 2.0 * static_cast<double>(weight_.numel() * in_.height * in_.width);
}

FeatureSize PooledConvolution::out() const noexcept {
  return {weight_.size(0), in_.height / 2, in_.width / 2};
}

std::int64_t pixels_left(const FeatureSize& size, std::size_t halvings) {
  const std::int64_t pixels = size.channels * size.height * size.width;
  if (pixels > 0) return pixels;
  throw Error(ErrorCode::InvalidInput, "these images are too small for " +
                                           std::to_string(halvings) +
                                           " convolutions that halve them");
}

}  // namespace trireme::model
