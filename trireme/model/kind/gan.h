// Gan consists of a generator, which makes images of a class from random numbers, and a
// discriminator, which distinguishes them from real images. Both are trained against each other.
// After Radford et al., "Unsupervised representation learning with deep convolutional generative
// adversarial networks", 2016.
//
// Training:   both are trained in one pass, with the same number of generated as of real images.
//             The discriminator's loss reaches only its own weights. The generator's loss passes
//             through the discriminator without training it and reaches only the generator's
//             weights. Two optimizers are therefore two parameter groups, with learning rates by
//             optim.lr_factors, or two optimizers by [optim.second].
// Output:     (B, classes): a logit for how real the discriminator considers an image of each
//             class.
// Randomness: generated images depend on the seed, the step and the sample's index in the global
//             batch, never on the micro-batch or the rank.
// Names:      generator.project.weight ... discriminator.conv1.weight ...
// Errors:     InvalidInput if samples are not images of one class each with sides divisible by 4.

#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "trireme/model/model.h"

namespace trireme::model {

struct GanConfig;
class GanDiscriminator;
class GanGenerator;

class Gan final : public Model {
 public:
  Gan(const GanConfig& config, const data::Form& form);

  // In training, appends the losses of both networks on generated images to context.losses.
  at::Tensor forward(const at::Tensor& input, const Context& context) override;
  std::shared_ptr<const Loss> own_loss() const override;
  Start start_of(const std::string& name, const at::Tensor& parameter) const override;

  std::int64_t classes() const noexcept { return classes_; }
  // Generates images of these classes, int64 (N), from random numbers of this seed: values from -1
  // to 1.
  at::Tensor sample(const at::Tensor& labels, std::uint64_t seed);

 private:
  std::int64_t latent_;
  std::int64_t classes_;
  std::shared_ptr<GanGenerator> generator_;
  std::shared_ptr<GanDiscriminator> discriminator_;
};

}  // namespace trireme::model
