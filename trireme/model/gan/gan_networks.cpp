#include "trireme/model/gan/gan_networks.h"

#include <ATen/ops/batch_norm.h>
#include <ATen/ops/conv2d.h>
#include <ATen/ops/conv_transpose2d.h>
#include <ATen/ops/leaky_relu.h>
#include <ATen/ops/linear.h>
#include <ATen/ops/relu.h>
#include <ATen/ops/tanh.h>
#include <ATen/ops/zeros.h>

#include <optional>

namespace trireme::model {
namespace {

// Kernel size of every convolution; with stride 2 it halves or doubles an image.
constexpr std::int64_t kSide = 4;
constexpr double kLeak = 0.2;
constexpr double kNormEpsilon = 1e-5;

std::shared_ptr<GanLayer> convolution(std::int64_t first, std::int64_t second,
                                      std::int64_t bias_count) {
  return std::make_shared<GanLayer>(std::vector<std::int64_t>{first, second, kSide, kSide},
                                    bias_count);
}

}  // namespace

GanLayer::GanLayer(std::vector<std::int64_t> sizes, std::int64_t bias_count) {
  weight = register_parameter("weight", at::zeros(sizes));
  if (bias_count > 0) bias = register_parameter("bias", at::zeros({bias_count}));
}

GanGenerator::GanGenerator(const FeatureSize& picture, std::int64_t width, std::int64_t inputs)
    : first_{2 * width, picture.height / 4, picture.width / 4} {
  project_ =
      register_module("project", std::make_shared<Linear>(Linear::Options{
                                     .inputs = inputs,
                                     .outputs = first_.channels * first_.height * first_.width,
                                     .has_bias = false}));
  norm1_ = register_module(
      "norm1", std::make_shared<BatchNorm>(BatchNorm::Options{.channels = first_.channels}));
  conv1_ = register_module("conv1", convolution(first_.channels, width, 0));
  norm2_ =
      register_module("norm2", std::make_shared<BatchNorm>(BatchNorm::Options{.channels = width}));
  conv2_ = register_module("conv2", convolution(width, picture.channels, picture.channels));
}

at::Tensor GanGenerator::forward(const at::Tensor& from, const Context& context) const {
  at::Tensor y =
      project_->forward(from, context).view({-1, first_.channels, first_.height, first_.width});
  y = norm1_->forward(y, context).relu();
  y = norm2_->forward(at::conv_transpose2d(y, conv1_->weight, {}, /*stride=*/2, /*padding=*/1),
                      context);
  return at::conv_transpose2d(y.relu(), conv2_->weight, conv2_->bias, /*stride=*/2, /*padding=*/1)
      .tanh();
}

GanDiscriminator::GanDiscriminator(const FeatureSize& picture, std::int64_t width,
                                   std::int64_t classes) {
  const std::int64_t features = 2 * width * (picture.height / 4) * (picture.width / 4);
  conv1_ = register_module("conv1", convolution(width, picture.channels, width));
  conv2_ = register_module("conv2", convolution(2 * width, width, 0));
  norm2_ = register_module("norm2",
                           std::make_shared<BatchNorm>(BatchNorm::Options{.channels = 2 * width}));
  all_ =
      register_module("all", std::make_shared<GanLayer>(std::vector{std::int64_t{1}, features}, 1));
  each_ = register_module("each", std::make_shared<GanLayer>(std::vector{classes, features}, 0));
}

at::Tensor GanDiscriminator::normed(const at::Tensor& x, const Context& context,
                                    Learns learns) const {
  if (learns == Learns::Yes) return norm2_->forward(x, context);
  return at::batch_norm(x, norm2_->weight.detach(), norm2_->bias.detach(), {}, {},
                        /*training=*/true, /*momentum=*/0, kNormEpsilon, /*cudnn_enabled=*/true);
}

at::Tensor GanDiscriminator::forward(const at::Tensor& picture, const Context& context,
                                     Learns learns) const {
  const auto use = [&](const at::Tensor& weight) {
    return learns == Learns::Yes ? weight : weight.detach();
  };
  at::Tensor y =
      at::conv2d(picture, use(conv1_->weight), use(conv1_->bias), /*stride=*/2, /*padding=*/1);
  y = at::conv2d(at::leaky_relu(y, kLeak), use(conv2_->weight), {}, /*stride=*/2, /*padding=*/1);
  y = at::leaky_relu(normed(y, context, learns), kLeak).flatten(1);
  return at::linear(y, use(all_->weight), use(all_->bias)) + at::linear(y, use(each_->weight));
}

}  // namespace trireme::model
