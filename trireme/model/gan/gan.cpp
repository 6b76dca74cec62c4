#include "trireme/model/gan/gan.h"

#include <ATen/ops/cat.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/gather.h>
#include <ATen/ops/one_hot.h>
#include <ATen/ops/softplus.h>

#include "trireme/base/check.h"
#include "trireme/base/error.h"
#include "trireme/base/random.h"

namespace trireme::model {
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

}  // namespace

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

at::Tensor RealnessLoss::sum(const at::Tensor& output, const at::Tensor& target) const {
  TRIREME_CHECK_EQ(output.size(0), target.numel(), "one output per image");
  return judged(output, target, true);
}

}  // namespace trireme::model
