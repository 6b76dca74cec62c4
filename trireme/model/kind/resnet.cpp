

#include <ATen/ops/conv2d.h>
#include <ATen/ops/max_pool2d.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "trireme/base/config/fields.h"
#include "trireme/model/block_model.h"
#include "trireme/model/feature_size.h"
#include "trireme/model/layer/batch_norm.h"
#include "trireme/model/layer/linear.h"
#include "trireme/model/registry.h"
#include "trireme/model/without_memory.h"

namespace trireme::model {
namespace {

using torch::nn::Module;

enum class ResnetStem {
  Auto,   // Small for images of up to 64 pixels per side
  Small,  // one 3 x 3 convolution
  Large,  // a 7 x 7 convolution that halves the image, and pooling that halves it again
};

struct ResnetConfig {
  std::int64_t depth = 14;
  std::int64_t width = 0;
  ResnetStem stem = ResnetStem::Auto;

  static void describe(config::Fields<ResnetConfig>& f) {
    f.add("depth", &ResnetConfig::depth)
        .check([](const std::int64_t& depth) {
          return depth == 14 || depth == 18 || depth == 34 || depth == 50
                     ? ""
                     : "is none of 14 (three stages, for small images), 18, 34 and 50";
        })
        .unit("layers")
        .help("number of layers: 14 (for small images), 18, 34 or 50");
    f.add("base_channels", &ResnetConfig::width)
        .range(0, 1 << 12)
        .help(
            "channels of the first stage, doubled at each later one; 0: 32 for depth 14, otherwise "
            "64");
    f.add("stem", &ResnetConfig::stem)
        .names({{"auto", ResnetStem::Auto},
                {"small", ResnetStem::Small},
                {"imagenet", ResnetStem::Large}})
        .help(
            "first layers: small keeps the image size, imagenet quarters it; auto: by the image "
            "size");
  }

  std::int64_t first_channels() const noexcept { return width ? width : depth == 14 ? 32 : 64; }
};

constexpr std::int64_t kSmallSide = 64;  // in pixels, at most

// The number of blocks of each stage.
std::vector<std::int64_t> blocks_of(std::int64_t depth) {
  if (depth == 14) return {2, 2, 2};
  if (depth == 18) return {2, 2, 2, 2};
  return {3, 4, 6, 3};
}

bool is_small(const ResnetConfig& config, const FeatureSize& size) {
  if (config.stem != ResnetStem::Auto) return config.stem == ResnetStem::Small;
  return std::max(size.height, size.width) <= kSmallSide;
}

// A convolution without bias, and the norm after it.
struct NormedConvolution {
  at::Tensor weight;
  std::shared_ptr<BatchNorm> norm;
  std::int64_t stride = 1;
  FeatureSize out;

  at::Tensor forward(const at::Tensor& x, const Context& context) const {
    return norm->forward(at::conv2d(x, weight, {}, stride, weight.size(2) / 2), context);
  }
  double flops() const {
    return 2.0 * static_cast<double>(weight.numel() * out.height * out.width);
  }
};

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
      "weight", zero_parameter({shape.channels, in.channels, shape.kernel, shape.kernel}));
  made.norm = owner.register_module(
      names.norm, std::make_shared<BatchNorm>(BatchNorm::Options{.channels = shape.channels}));
  made.stride = shape.stride;
  made.out = {shape.channels, halved(in.height), halved(in.width)};
  return made;
}

class ResnetStemBlock final : public Block {
 public:
  ResnetStemBlock(const FeatureSize& in, std::int64_t channels, bool is_small)
      : is_small_(is_small) {
    const Shape shape{.channels = channels, .kernel = is_small ? 3 : 7, .stride = is_small ? 1 : 2};
    convolution_ = add_convolution(*this, {"conv1", "bn1"}, in, shape);
    out_ = convolution_.out;
    if (!is_small) out_ = {channels, (out_.height - 1) / 2 + 1, (out_.width - 1) / 2 + 1};
  }

  Activations forward(Activations in, const Context& context) override {
    in.main = convolution_.forward(in.main, context).relu_();
    if (!is_small_) in.main = at::max_pool2d(in.main, 3, 2, 1);
    return in;
  }
  double forward_flops(const data::Form&) const override { return convolution_.flops(); }
  const FeatureSize& out() const noexcept { return out_; }

 private:
  NormedConvolution convolution_;
  bool is_small_;
  FeatureSize out_;
};

class ResnetBlock final : public Block {
 public:
  struct Options {
    FeatureSize in;
    std::int64_t channels = 1;  // of the inner convolutions
    std::int64_t stride = 1;
    bool is_bottleneck = false;  // three convolutions, the last with four times the channels
  };

  explicit ResnetBlock(const Options& options) {
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

  Activations forward(Activations in, const Context& context) override {
    at::Tensor y = in.main;
    for (std::size_t i = 0; i < convolutions_.size(); ++i) {
      y = convolutions_[i].forward(y, context);
      if (i + 1 < convolutions_.size()) y = y.relu_();
    }
    for (const NormedConvolution& shortcut : shortcut_) {
      in.main = shortcut.forward(in.main, context);
    }
    in.main = (y + in.main).relu_();
    return in;
  }

  double forward_flops(const data::Form&) const override {
    double all = 0;
    for (const NormedConvolution& one : convolutions_) all += one.flops();
    for (const NormedConvolution& one : shortcut_) all += one.flops();
    return all;
  }
  const FeatureSize& out() const noexcept { return convolutions_.back().out; }

 private:
  std::vector<NormedConvolution> convolutions_;
  std::vector<NormedConvolution> shortcut_;  // empty if the size does not change
};

// The mean over the image, then a last layer.
class ResnetHead final : public Block {
 public:
  ResnetHead(std::int64_t channels, std::int64_t outputs) {
    fc_ = register_module(
        "fc", std::make_shared<Linear>(Linear::Options{.inputs = channels, .outputs = outputs}));
  }

  Activations forward(Activations in, const Context& context) override {
    in.main = fc_->forward(in.main.mean({2, 3}), context);
    return in;
  }

 private:
  std::shared_ptr<Linear> fc_;
};

class Resnet final : public BlockModel {
 public:
  Resnet(const ResnetConfig& config, const data::Form& form) {
    const FeatureSize image = image_size("resnet", form);
    std::int64_t channels = config.first_channels();
    auto stem = std::make_shared<ResnetStemBlock>(image, channels, is_small(config, image));
    FeatureSize size = stem->out();
    add("", std::move(stem));
    const std::vector<std::int64_t> counts = blocks_of(config.depth);
    for (std::size_t stage = 0; stage < counts.size(); ++stage, channels *= 2) {
      for (std::int64_t i = 0; i < counts[stage]; ++i) {
        auto block = std::make_shared<ResnetBlock>(
            ResnetBlock::Options{.in = size,
                                 .channels = channels,
                                 .stride = stage > 0 && i == 0 ? 2 : 1,
                                 .is_bottleneck = config.depth == 50});
        size = block->out();
        add("layer" + std::to_string(stage + 1) + "." + std::to_string(i), std::move(block));
      }
    }
    add("", std::make_shared<ResnetHead>(size.channels, outputs_for(form)));
  }

  // Convolutions by their fan-out (He et al. 2015), the last layer as in PyTorch.
  Start start_of(const std::string& name, const at::Tensor& parameter) const override {
    if (parameter.dim() != 4) return BlockModel::start_of(name, parameter);
    const auto given = static_cast<double>(parameter.numel() / parameter.size(1));
    return Start::normal(std::sqrt(2 / given));
  }
};

}  // namespace

void add_resnet(ModelRegistry& registry) {
  registry.add<ResnetConfig, Resnet>("resnet", "a residual network for images");
}

}  // namespace trireme::model
