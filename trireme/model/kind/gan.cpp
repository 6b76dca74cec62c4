#include "trireme/model/kind/gan.h"

#include <ATen/ops/batch_norm.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/conv2d.h>
#include <ATen/ops/conv_transpose2d.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/gather.h>
#include <ATen/ops/leaky_relu.h>
#include <ATen/ops/linear.h>
#include <ATen/ops/one_hot.h>
#include <ATen/ops/relu.h>
#include <ATen/ops/softplus.h>
#include <ATen/ops/tanh.h>
#include <ATen/ops/zeros.h>

#include <cstdint>
#include <vector>

#include "trireme/base/check.h"
#include "trireme/base/config/fields.h"
#include "trireme/base/error.h"
#include "trireme/base/random.h"
#include "trireme/model/feature_size.h"
#include "trireme/model/layer/batch_norm.h"
#include "trireme/model/layer/linear.h"
#include "trireme/model/loss/loss.h"
#include "trireme/model/registry.h"

namespace trireme::model {

struct GanConfig {
  std::int64_t latent = 64;
  std::int64_t width = 32;

  static void describe(config::Fields<GanConfig>& f) {
    f.add("latent_size", &GanConfig::latent)
        .range(1, 1 << 16)
        .help("size of the random vector from which an image is generated");
    f.add("base_channels", &GanConfig::width)
        .range(1, 1 << 14)
        .help(
            "channels of the layers next to the image; the layers behind them have twice this "
            "number");
  }
};

namespace {

// Makes these random draws independent of all others from the same seed.
constexpr std::uint64_t kMadeUpPurpose = 0x47414E5A;

struct MadeUp {
  at::Tensor numbers;  // (B, latent)
  at::Tensor labels;   // int64 (B)
};

// The random stream of a sample begins with its class.
MadeUp draw(std::int64_t latent, std::int64_t classes, const Context& context, std::int64_t count,
            at::Device device) {
  MadeUp all{at::empty({count, latent}), at::empty({count}, at::kLong)};
  float* number = all.numbers.mutable_data_ptr<float>();
  std::int64_t* label = all.labels.mutable_data_ptr<std::int64_t>();
  for (std::int64_t i = 0; i < count; ++i) {
    const std::int64_t place =
        context.places.defined() ? context.places.const_data_ptr<std::int64_t>()[i] : i;
    const auto stream = static_cast<std::uint64_t>(context.step) * 0x9E3779B97F4A7C15 +
                        static_cast<std::uint64_t>(place);
    Random random(context.seed ^ kMadeUpPurpose, stream);
    *label++ = static_cast<std::int64_t>(random.below(static_cast<std::uint64_t>(classes)));
    for (std::int64_t k = 0; k < latent; ++k) *number++ = static_cast<float>(random.normal());
  }
  return {all.numbers.to(device), all.labels.to(device)};
}

FeatureSize picture_of(const data::Form& form) {
  const FeatureSize size = image_size("gan", form);
  if (form.classes > 0 && form.target_sizes.empty() && size.height % 4 == 0 &&
      size.width % 4 == 0 && size.height > 0 && size.width > 0) {
    return size;
  }
  throw Error(ErrorCode::InvalidInput,
              "a gan requires images of one class each with sides divisible by 4; use data.resize "
              "to resize them");
}

// The summed loss of each sample's logit for its class, against the label `is_real`.
at::Tensor judged(const at::Tensor& logits, const at::Tensor& labels, bool is_real) {
  const at::Tensor own = logits.gather(1, labels.unsqueeze(1)).to(at::kFloat);
  return at::softplus(is_real ? -own : own).sum();
}

// The discriminator's loss on real images: log(1 + exp(-logit)) of their class, summed.
class RealnessLoss final : public Loss {
 public:
  at::Tensor sum(const at::Tensor& output, const at::Tensor& target) const override {
    TRIREME_CHECK_EQ(output.size(0), target.numel(), "one output per image");
    return judged(output, target, true);
  }
};

// Kernel size of every convolution; with stride 2 it halves or doubles an image.
constexpr std::int64_t kSide = 4;
constexpr double kLeak = 0.2;
constexpr double kNormEpsilon = 1e-5;

// Registers the weights of a layer under its name.
struct GanLayer : torch::nn::Module {
  // Without a bias if bias_count is 0.
  GanLayer(std::vector<std::int64_t> sizes, std::int64_t bias_count) {
    weight = register_parameter("weight", at::zeros(sizes));
    if (bias_count > 0) bias = register_parameter("bias", at::zeros({bias_count}));
  }

  at::Tensor weight, bias;
};

std::shared_ptr<GanLayer> convolution(std::int64_t first, std::int64_t second,
                                      std::int64_t bias_count) {
  return std::make_shared<GanLayer>(std::vector<std::int64_t>{first, second, kSide, kSide},
                                    bias_count);
}

std::shared_ptr<BatchNorm> norm_of(std::int64_t channels) {
  return std::make_shared<BatchNorm>(BatchNorm::Options{.channels = channels});
}

// Whether a pass trains the weights.
enum class Learns { Yes, No };

}  // namespace

// Maps random numbers and a class to an image: a linear layer, then two transposed convolutions
// that each double its size.
class GanGenerator : public torch::nn::Module {
 public:
  GanGenerator(const FeatureSize& picture, std::int64_t width, std::int64_t inputs)
      : first_{2 * width, picture.height / 4, picture.width / 4} {
    project_ =
        register_module("project", std::make_shared<Linear>(Linear::Options{
                                       .inputs = inputs,
                                       .outputs = first_.channels * first_.height * first_.width,
                                       .has_bias = false}));
    norm1_ = register_module("norm1", norm_of(first_.channels));
    conv1_ = register_module("conv1", convolution(first_.channels, width, 0));
    norm2_ = register_module("norm2", norm_of(width));
    conv2_ = register_module("conv2", convolution(width, picture.channels, picture.channels));
  }

  // (B, inputs) to (B, C, H, W), values from -1 to 1.
  at::Tensor forward(const at::Tensor& from, const Context& context) const {
    at::Tensor y =
        project_->forward(from, context).view({-1, first_.channels, first_.height, first_.width});
    y = norm1_->forward(y, context).relu();
    y = norm2_->forward(at::conv_transpose2d(y, conv1_->weight, {}, /*stride=*/2, /*padding=*/1),
                        context);
    return at::conv_transpose2d(y.relu(), conv2_->weight, conv2_->bias, /*stride=*/2,
                                /*padding=*/1)
        .tanh();
  }

 private:
  FeatureSize first_;  // output size of the linear layer
  std::shared_ptr<Linear> project_;
  std::shared_ptr<BatchNorm> norm1_, norm2_;
  std::shared_ptr<GanLayer> conv1_, conv2_;
};

// Maps an image to how real it is as an image of each class (Miyato and Koyama, 2018: one part for
// all classes and one for each).
class GanDiscriminator : public torch::nn::Module {
 public:
  GanDiscriminator(const FeatureSize& picture, std::int64_t width, std::int64_t classes) {
    const std::int64_t features = 2 * width * (picture.height / 4) * (picture.width / 4);
    conv1_ = register_module("conv1", convolution(width, picture.channels, width));
    conv2_ = register_module("conv2", convolution(2 * width, width, 0));
    norm2_ = register_module("norm2", norm_of(2 * width));
    all_ = register_module("all",
                           std::make_shared<GanLayer>(std::vector{std::int64_t{1}, features}, 1));
    each_ = register_module("each", std::make_shared<GanLayer>(std::vector{classes, features}, 0));
  }

  // (B, C, H, W) to (B, classes). A pass that does not train does not update running statistics
  // either.
  at::Tensor forward(const at::Tensor& picture, const Context& context, Learns learns) const {
    const auto use = [&](const at::Tensor& weight) {
      return learns == Learns::Yes ? weight : weight.detach();
    };
    at::Tensor y =
        at::conv2d(picture, use(conv1_->weight), use(conv1_->bias), /*stride=*/2, /*padding=*/1);
    y = at::conv2d(at::leaky_relu(y, kLeak), use(conv2_->weight), {}, /*stride=*/2, /*padding=*/1);
    y = at::leaky_relu(normed(y, context, learns), kLeak).flatten(1);
    return at::linear(y, use(all_->weight), use(all_->bias)) + at::linear(y, use(each_->weight));
  }

 private:
  at::Tensor normed(const at::Tensor& x, const Context& context, Learns learns) const {
    if (learns == Learns::Yes) return norm2_->forward(x, context);
    return at::batch_norm(x, norm2_->weight.detach(), norm2_->bias.detach(), {}, {},
                          /*training=*/true, /*momentum=*/0, kNormEpsilon, /*cudnn_enabled=*/true);
  }

  std::shared_ptr<GanLayer> conv1_, conv2_, all_, each_;
  std::shared_ptr<BatchNorm> norm2_;
};

Gan::Gan(const GanConfig& config, const data::Form& form)
    : latent_(config.latent), classes_(form.classes) {
  const FeatureSize picture = picture_of(form);
  generator_ = register_module(
      "generator", std::make_shared<GanGenerator>(picture, config.width, latent_ + classes_));
  discriminator_ = register_module(
      "discriminator", std::make_shared<GanDiscriminator>(picture, config.width, classes_));
}

at::Tensor Gan::forward(const at::Tensor& input, const Context& context) {
  const at::Tensor real = discriminator_->forward(input, context, Learns::Yes);
  if (!context.is_training || context.losses == nullptr) return real;
  const MadeUp made = draw(latent_, classes_, context, input.size(0), input.device());
  const at::Tensor picture = generator_->forward(
      at::cat({made.numbers, at::one_hot(made.labels, classes_).to(at::kFloat)}, 1), context);
  const at::Tensor doubted = discriminator_->forward(picture.detach(), context, Learns::Yes);
  const at::Tensor believed = discriminator_->forward(picture, context, Learns::No);
  context.losses->push_back(judged(doubted, made.labels, false));
  context.losses->push_back(judged(believed, made.labels, true));
  return real;
}

std::shared_ptr<const Loss> Gan::own_loss() const {
  return std::make_shared<RealnessLoss>();
}

Start Gan::start_of(const std::string& name, const at::Tensor& parameter) const {
  // As in the paper.
  if (parameter.dim() > 1) return Start::normal(0.02);
  return Start::constant(name.ends_with("weight") ? 1 : 0);
}

at::Tensor Gan::sample(const at::Tensor& labels, std::uint64_t seed) {
  const Context context{.seed = seed};
  const MadeUp made = draw(latent_, classes_, context, labels.size(0), labels.device());
  const at::Tensor hot = at::one_hot(labels, classes_).to(at::kFloat);
  return generator_->forward(at::cat({made.numbers, hot}, 1), context);
}

void add_gan(ModelRegistry& registry) {
  registry.add<GanConfig, Gan>("gan",
                               "a class-conditional generative adversarial network for images");
}

}  // namespace trireme::model
