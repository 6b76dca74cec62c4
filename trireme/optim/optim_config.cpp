#include "trireme/optim/optim_config.h"

#include "trireme/optim/groups.h"
#include "trireme/optim/schedule/describe_rate.h"

namespace trireme::optim {

void OptimConfig::describe(config::Fields<OptimConfig>& f) {
  f.add("max_grad_norm", &OptimConfig::max_grad_norm)
      .synonyms({"clip_norm", "max_norm", "grad_clip", "clip_grad_norm", "gradient_clip_val"})
      .at_least(0.0)
      .help("maximum global gradient norm; 0: no clipping");
  f.add("max_grad_value", &OptimConfig::max_grad_value)
      .synonyms({"clip_value", "clip_grad_value"})
      .at_least(0.0)
      .help("maximum absolute value of each gradient element; 0: no clipping");
  f.add("decay_all", &OptimConfig::decay_all)
      .help("apply weight decay to norms and biases (parameters with one dim), too");
  f.add("no_decay", &OptimConfig::no_decay)
      .help("names of parameters without weight decay; * matches any text");
  f.add("lr_factors", &OptimConfig::lr_factors)
      .synonyms({"rate_factors"})
      .check([](const std::vector<std::string>& all) { return complaint_of_factors(all); })
      .help(
          "\"pattern=factor\": multiplies the learning rate of matching parameters; the last match "
          "applies");
  f.add("layer_decay", &OptimConfig::layer_decay)
      .synonyms({"depth_factor", "layerwise_lr_decay"})
      .range(1e-6, 1.0)
      .help(
          "layer-wise decay: factor of the learning rate per block from the last one towards the "
          "input");
  f.add("unfreeze_every", &OptimConfig::unfreeze_every)
      .at_least(0)
      .unit("steps")
      .help(
          "gradual unfreezing: train only the last block at first, and one block more after every "
          "so many steps; 0: train all");
}

void SgdConfig::describe(config::Fields<SgdConfig>& f) {
  describe_rate(f);
  f.add("momentum", &SgdConfig::momentum).range(0.0, 0.999999).help("momentum");
  f.add("nesterov", &SgdConfig::nesterov).help("use Nesterov momentum");
  f.require([](const SgdConfig& c) {
    return c.nesterov && c.momentum == 0 ? std::string("nesterov requires a momentum above 0")
                                         : std::string();
  });
}

void AdamConfig::describe(config::Fields<AdamConfig>& f) {
  describe_rate(f);
  describe_means(f);
}

void AdamwConfig::describe(config::Fields<AdamwConfig>& f) {
  describe_rate(f);
  describe_means(f);
}

void AdagradConfig::describe(config::Fields<AdagradConfig>& f) {
  describe_rate(f);
  describe_epsilon(f);
  f.add("lr_decay", &AdagradConfig::lr_decay)
      .range(0.0, kRateMax)
      .help("learning-rate decay: step n has the learning rate divided by 1 + (n - 1) * lr_decay");
}

void RmspropConfig::describe(config::Fields<RmspropConfig>& f) {
  describe_rate(f);
  describe_epsilon(f);
  f.add("alpha", &RmspropConfig::alpha)
      .range(0.0, 0.999999)
      .help("decay of the running mean of squared gradients");
  f.add("momentum", &RmspropConfig::momentum).range(0.0, 0.999999).help("momentum");
  f.add("centered", &RmspropConfig::centered)
      .help("divide by the standard deviation of the gradients instead of their root mean square");
}

void LionConfig::describe(config::Fields<LionConfig>& f) {
  describe_rate(f);
  f.add("betas", &LionConfig::betas)
      .range(0.0, kBetaMax)
      .check(mistake_in_betas)
      .synonyms({"beta1", "beta2"})
      .help(
          "weight of the running mean in the direction of a step, and decay of the running mean of "
          "gradients");
}

}  // namespace trireme::optim
