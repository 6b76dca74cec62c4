#include "trireme/optim/optim_config.h"

#include "trireme/optim/groups.h"
#include "trireme/optim/schedule/describe_rate.h"

namespace trireme::optim {

void OptimConfig::describe(config::Fields<OptimConfig>& f) {
  f.add("clip_norm", &OptimConfig::clip_norm)
      .at_least(0.0)
      .help("gradients longer than this, all together, are shortened to it; 0: never");
  f.add("clip_value", &OptimConfig::clip_value)
      .at_least(0.0)
      .help("each gradient is cut off at this size; 0: never");
  f.add("decay_all", &OptimConfig::decay_all)
      .help("weight decay on norms and biases (parameters of one dim) too");
  f.add("no_decay", &OptimConfig::no_decay)
      .help("names of parameters without weight decay; * stands for anything");
  f.add("rate_factors", &OptimConfig::rate_factors)
      .check([](const std::vector<std::string>& all) { return complaint_of_factors(all); })
      .help("\"pattern=factor\": learning rates of their own; the last that fits counts");
  f.add("depth_factor", &OptimConfig::depth_factor)
      .range(1e-6, 1.0)
      .help("of the learning rate, for each block nearer to the input than the last one");
  f.add("unfreeze_every", &OptimConfig::unfreeze_every)
      .at_least(0)
      .unit("steps")
      .help("train the last block only, and after so many steps one block more, and so on; 0: all");
}

void SgdConfig::describe(config::Fields<SgdConfig>& f) {
  describe_rate(f);
  f.add("momentum", &SgdConfig::momentum).range(0.0, 0.999999).help("memory of past gradients");
  f.add("nesterov", &SgdConfig::nesterov).help("look one step ahead along the momentum");
  f.require([](const SgdConfig& c) {
    return c.nesterov && c.momentum == 0 ? std::string("nesterov needs a momentum above 0")
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
      .help("step n has the rate over 1 + (n - 1) times this");
}

void RmspropConfig::describe(config::Fields<RmspropConfig>& f) {
  describe_rate(f);
  describe_epsilon(f);
  f.add("alpha", &RmspropConfig::alpha)
      .range(0.0, 0.999999)
      .help("memory of the mean of squared gradients");
  f.add("momentum", &RmspropConfig::momentum).range(0.0, 0.999999).help("memory of past steps");
  f.add("centered", &RmspropConfig::centered)
      .help("divides by the deviation of gradients around their mean");
}

void LionConfig::describe(config::Fields<LionConfig>& f) {
  describe_rate(f);
  f.add("beta1", &LionConfig::beta1)
      .range(0.0, 0.999999)
      .help("share of the mean in the direction of a step");
  f.add("beta2", &LionConfig::beta2).range(0.0, 0.999999).help("memory of the mean of gradients");
}

}  // namespace trireme::optim
