#include "trireme/optim/optim_config.h"

#include "trireme/optim/groups.h"
#include "trireme/optim/schedule/describe_rate.h"

namespace trireme::optim {

void OptimConfig::describe(config::Fields<OptimConfig>& f) {
  f.add("clip_norm", &OptimConfig::clip_norm)
      .at_least(0.0)
      .help("maximum global gradient norm; 0: no clipping");
  f.add("clip_value", &OptimConfig::clip_value)
      .at_least(0.0)
      .help("maximum absolute value of each gradient element; 0: no clipping");
  f.add("decay_all", &OptimConfig::decay_all)
      .help("apply weight decay to norms and biases (parameters with one dim), too");
  f.add("no_decay", &OptimConfig::no_decay)
      .help("names of parameters without weight decay; * matches any text");
  f.add("rate_factors", &OptimConfig::rate_factors)
      .check([](const std::vector<std::string>& all) { return complaint_of_factors(all); })
      .help(
          "\"pattern=factor\": multiplies the learning rate of matching parameters; the last match "
          "applies");
  f.add("depth_factor", &OptimConfig::depth_factor)
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
  f.add("rate_decay", &AdagradConfig::rate_decay)
      .range(0.0, kRateMax)
      .help(
          "learning-rate decay: step n has the learning rate divided by 1 + (n - 1) * rate_decay");
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
  f.add("beta1", &LionConfig::beta1)
      .range(0.0, 0.999999)
      .help("weight of the running mean in the direction of a step");
  f.add("beta2", &LionConfig::beta2)
      .range(0.0, 0.999999)
      .help("decay of the running mean of gradients");
}

}  // namespace trireme::optim
