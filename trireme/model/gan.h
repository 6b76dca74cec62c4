// Gan is a generator that makes pictures of a class from random numbers, and a discriminator that
// tells them from real ones; each learns from the other.
//
// A step:  both learn from one pass: of so many made-up pictures as real ones, the discriminator's
//          loss reaches its own weights alone, and the generator's loss goes through the
//          discriminator as it stands and reaches the generator's alone. Two optimizers are then
//          two groups of one, with optim.rate_factors for rates, or two rules by [optim.second].
// Output:  (B, classes): how real the discriminator finds a picture as one of each class; a logit.
// Random:  what is made up is drawn from seed, step and a sample's place, never from slot or rank.
// Names:   generator.project.weight ... discriminator.conv1.weight ...
// Failure: InvalidInput where samples are no images of one class each whose sides 4 divides.

#pragma once

#include <memory>
#include <string>

#include "trireme/model/gan_config.h"
#include "trireme/model/gan_networks.h"
#include "trireme/model/loss.h"
#include "trireme/model/model.h"

namespace trireme::model {

class Gan final : public Model {
 public:
  Gan(const GanConfig& config, const data::Form& form);

  // In training, leaves the losses of both networks on made-up pictures in context.losses.
  at::Tensor forward(const at::Tensor& input, const Context& context) override;
  std::shared_ptr<const Loss> own_loss() const override;
  Start start_of(const std::string& name, const at::Tensor& parameter) const override;

  std::int64_t classes() const noexcept { return classes_; }
  // Pictures of these classes, int64 (N), from numbers that the seed decides: values from -1 to 1.
  at::Tensor sample(const at::Tensor& labels, std::uint64_t seed);

 private:
  std::int64_t latent_;
  std::int64_t classes_;
  std::shared_ptr<GanGenerator> generator_;
  std::shared_ptr<GanDiscriminator> discriminator_;
};

// The discriminator's loss on real pictures: log(1 + exp(-logit)) of their class, summed.
class RealnessLoss final : public Loss {
 public:
  at::Tensor sum(const at::Tensor& output, const at::Tensor& target) const override;
};

}  // namespace trireme::model
