// Audio is a small network that classifies spoken words from spectrograms: a first convolution that
// is long in time and quarters the image; pairs of a depthwise and a pointwise convolution, each
// with norm and ReLU; the mean over the image; and a last layer. Each of these is a block. After
// Zhang, Suda, Lai and Chandra, "Hello Edge: Keyword Spotting on Microcontrollers", 2017 (DS-CNN).
//
// Input:  (B, channels, bands, times), as data of kind audio provide.
// Names:  stem.conv.weight, stem.norm.weight ... layers.0.within.weight, layers.0.across.weight,
//         layers.0.norm1.weight ... head.fc.weight
// Errors: InvalidInput if samples are not images, or are smaller than the first convolution.

#include <ATen/ops/conv2d.h>

#include <cmath>
#include <cstdint>
#include <string>

#include "trireme/base/config/fields.h"
#include "trireme/base/error.h"
#include "trireme/model/block_model.h"
#include "trireme/model/feature_size.h"
#include "trireme/model/layer/batch_norm.h"
#include "trireme/model/layer/dropout.h"
#include "trireme/model/layer/linear.h"
#include "trireme/model/registry.h"
#include "trireme/model/without_memory.h"

namespace trireme::model {
namespace {

struct AudioModelConfig {
  std::int64_t width = 64;
  std::int64_t layers = 4;
  double dropout = 0;

  static void describe(config::Fields<AudioModelConfig>& f) {
    f.add("channels", &AudioModelConfig::width)
        .range(1, 1 << 12)
        .help("channels of every convolution");
    f.add("num_layers", &AudioModelConfig::layers)
        .range(0, 100)
        .help("number of depthwise-separable convolutions after the first convolution");
    f.add("dropout", &AudioModelConfig::dropout)
        .range(0.0, 0.99)
        .help("dropout probability before the last layer");
  }
};

using torch::nn::Module;

// First convolution: reduces 40 bands x 98 times to 20 x 49.
constexpr std::int64_t kBands = 4, kTimes = 10, kStride = 2;

at::Tensor add_weight(Module& owner, const std::string& name, std::vector<std::int64_t> sizes) {
  return owner.register_module(name, std::make_shared<Module>("conv"))
      ->register_parameter("weight", zero_parameter(sizes));
}

std::shared_ptr<BatchNorm> add_norm(Module& owner, const std::string& name, std::int64_t channels) {
  return owner.register_module(
      name, std::make_shared<BatchNorm>(BatchNorm::Options{.channels = channels}));
}

double flops_of(const at::Tensor& weight, const FeatureSize& out) {
  return 2.0 * static_cast<double>(weight.numel() * out.height * out.width);
}

class AudioStem final : public Block {
 public:
  AudioStem(const FeatureSize& in, std::int64_t width)
      : out_{width, (in.height + 2 * pad(kBands) - kBands) / kStride + 1,
             (in.width + 2 * pad(kTimes) - kTimes) / kStride + 1} {
    weight_ = add_weight(*this, "conv", {width, in.channels, kBands, kTimes});
    norm_ = add_norm(*this, "norm", width);
  }

  Activations forward(Activations in, const Context& context) override {
    in.main = at::conv2d(in.main, weight_, {}, kStride, {pad(kBands), pad(kTimes)});
    in.main = norm_->forward(in.main, context).relu_();
    return in;
  }
  double forward_flops(const data::Form&) const override { return flops_of(weight_, out_); }
  const FeatureSize& out() const noexcept { return out_; }

 private:
  static constexpr std::int64_t pad(std::int64_t side) { return (side - 1) / 2; }

  FeatureSize out_;
  at::Tensor weight_;
  std::shared_ptr<BatchNorm> norm_;
};

class AudioLayer final : public Block {
 public:
  explicit AudioLayer(const FeatureSize& size) : size_(size) {
    within_ = add_weight(*this, "within", {size.channels, 1, 3, 3});
    norm1_ = add_norm(*this, "norm1", size.channels);
    across_ = add_weight(*this, "across", {size.channels, size.channels, 1, 1});
    norm2_ = add_norm(*this, "norm2", size.channels);
  }

  Activations forward(Activations in, const Context& context) override {
    at::Tensor y = at::conv2d(in.main, within_, {}, /*stride=*/1, /*padding=*/1, /*dilation=*/1,
                              /*groups=*/size_.channels);
    y = norm1_->forward(y, context).relu_();
    in.main = norm2_->forward(at::conv2d(y, across_), context).relu_();
    return in;
  }
  double forward_flops(const data::Form&) const override {
    return flops_of(within_, size_) + flops_of(across_, size_);
  }

 private:
  FeatureSize size_;
  at::Tensor within_, across_;
  std::shared_ptr<BatchNorm> norm1_, norm2_;
};

class AudioHead final : public Block {
 public:
  AudioHead(std::int64_t inputs, std::int64_t outputs, double dropout) : dropout_(dropout) {
    fc_ = register_module(
        "fc", std::make_shared<Linear>(Linear::Options{.inputs = inputs, .outputs = outputs}));
  }

  Activations forward(Activations in, const Context& context) override {
    const at::Tensor mean = dropout(in.main.mean({2, 3}), dropout_, /*layer=*/0, context);
    in.main = fc_->forward(mean, context);
    return in;
  }

 private:
  double dropout_;
  std::shared_ptr<Linear> fc_;
};

class Audio final : public BlockModel {
 public:
  Audio(const AudioModelConfig& config, const data::Form& form) {
    const FeatureSize in = image_size("audio", form);
    if (in.height < kBands || in.width < kTimes) {
      throw Error(ErrorCode::InvalidInput,
                  "audio requires at least " + std::to_string(kBands) + " bands and " +
                      std::to_string(kTimes) + " frames, and these samples have " +
                      std::to_string(in.height) + " by " + std::to_string(in.width) +
                      "; a smaller data.hop_length gives more frames");
    }
    auto stem = std::make_shared<AudioStem>(in, config.width);
    const FeatureSize size = stem->out();
    add("stem", std::move(stem));
    for (std::int64_t i = 0; i < config.layers; ++i) {
      add("layers." + std::to_string(i), std::make_shared<AudioLayer>(size));
    }
    add("head", std::make_shared<AudioHead>(config.width, outputs_for(form), config.dropout));
  }

  // As in residual networks, by the number of inputs per output.
  Start start_of(const std::string& name, const at::Tensor& parameter) const override {
    if (parameter.dim() != 4) return BlockModel::start_of(name, parameter);
    const auto taken = static_cast<double>(parameter.numel() / parameter.size(0));
    return Start::normal(std::sqrt(2 / taken));
  }
};

}  // namespace

void add_audio(ModelRegistry& registry) {
  registry.add<AudioModelConfig, Audio>(
      "audio", "a small network that classifies spoken words from spectrograms");
}

}  // namespace trireme::model
