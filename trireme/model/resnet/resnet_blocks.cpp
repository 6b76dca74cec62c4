#include "trireme/model/resnet/resnet_blocks.h"

#include <ATen/ops/conv2d.h>
#include <ATen/ops/max_pool2d.h>
#include <ATen/ops/zeros.h>

#include <string>

namespace trireme::model {
namespace {

using torch::nn::Module;

struct Shape {
  std::int64_t channels = 1;
  std::int64_t kernel = 3;
  std::int64_t stride = 1;
};

struct Names {
  std::string convolution;
  std::string norm;
};

// Pads by half the kernel size, so that a stride of 1 keeps the size of the image.
NormedConvolution add_convolution(Module& owner, const Names& names, const FeatureSize& in,
                                  const Shape& shape) {
  const auto halved = [&](std::int64_t side) { return (side - 1) / shape.stride + 1; };
  NormedConvolution made;
  const auto holder = owner.register_module(names.convolution, std::make_shared<Module>("conv"));
  made.weight = holder->register_parameter(
      "weight", at::zeros({shape.channels, in.channels, shape.kernel, shape.kernel}));
  made.norm = owner.register_module(
      names.norm, std::make_shared<BatchNorm>(BatchNorm::Options{.channels = shape.channels}));
  made.stride = shape.stride;
  made.out = {shape.channels, halved(in.height), halved(in.width)};
  return made;
}

}  // namespace

at::Tensor NormedConvolution::forward(const at::Tensor& x, const Context& context) const {
  return norm->forward(at::conv2d(x, weight, {}, stride, weight.size(2) / 2), context);
}

double NormedConvolution::flops() const {
  return 2.0 * static_cast<double>(weight.numel() * out.height * out.width);
}

ResnetStemBlock::ResnetStemBlock(const FeatureSize& in, std::int64_t channels, bool is_small)
    : is_small_(is_small) {
  const Shape shape{.channels = channels, .kernel = is_small ? 3 : 7, .stride = is_small ? 1 : 2};
  convolution_ = add_convolution(*this, {"conv1", "bn1"}, in, shape);
  out_ = convolution_.out;
  if (!is_small) out_ = {channels, (out_.height - 1) / 2 + 1, (out_.width - 1) / 2 + 1};
}

Activations ResnetStemBlock::forward(Activations in, const Context& context) {
  in.main = convolution_.forward(in.main, context).relu_();
  if (!is_small_) in.main = at::max_pool2d(in.main, 3, 2, 1);
  return in;
}

ResnetBlock::ResnetBlock(const Options& options) {
  const std::int64_t inner = options.channels, stride = options.stride;
  std::vector<Shape> shapes{{inner, 3, stride}, {inner, 3, 1}};
  if (options.is_bottleneck) shapes = {{inner, 1, 1}, {inner, 3, stride}, {4 * inner, 1, 1}};
  FeatureSize size = options.in;
  for (std::size_t i = 0; i < shapes.size(); ++i) {
    const std::string number = std::to_string(i + 1);
    convolutions_.push_back(
        add_convolution(*this, {"conv" + number, "bn" + number}, size, shapes[i]));
    size = convolutions_.back().out;
  }
  if (stride == 1 && size.channels == options.in.channels) return;
  const auto downsample = register_module("downsample", std::make_shared<Module>("downsample"));
  shortcut_.push_back(
      add_convolution(*downsample, {"0", "1"}, options.in, {size.channels, 1, stride}));
}

Activations ResnetBlock::forward(Activations in, const Context& context) {
  at::Tensor y = in.main;
  for (std::size_t i = 0; i < convolutions_.size(); ++i) {
    y = convolutions_[i].forward(y, context);
    if (i + 1 < convolutions_.size()) y = y.relu_();
  }
  for (const NormedConvolution& shortcut : shortcut_) in.main = shortcut.forward(in.main, context);
  in.main = (y + in.main).relu_();
  return in;
}

double ResnetBlock::forward_flops(const data::Form&) const {
  double all = 0;
  for (const NormedConvolution& one : convolutions_) all += one.flops();
  for (const NormedConvolution& one : shortcut_) all += one.flops();
  return all;
}

ResnetHead::ResnetHead(std::int64_t channels, std::int64_t outputs) {
  fc_ = register_module(
      "fc", std::make_shared<Linear>(Linear::Options{.inputs = channels, .outputs = outputs}));
}

Activations ResnetHead::forward(Activations in, const Context& context) {
  in.main = fc_->forward(in.main.mean({2, 3}), context);
  return in;
}

}  // namespace trireme::model
