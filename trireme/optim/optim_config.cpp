#include "trireme/optim/optim_config.h"

#include "trireme/optim/groups.h"

namespace trireme::optim {
namespace {

constexpr double kRateMax = 1e3;

template <class Config>
void describe_rate(config::Fields<Config>& f) {
  f.add("learning_rate", &Config::learning_rate)
      .range(0.0, kRateMax)
      .help("size of a step, after warm-up and before the schedule lowers it");
  f.add("weight_decay", &Config::weight_decay)
      .range(0.0, kRateMax)
      .help("how strongly weights are drawn to zero");
}

template <class Config>
void describe_means(config::Fields<Config>& f) {
  f.add("beta1", &Config::beta1).range(0.0, 0.999999).help("memory of the mean of gradients");
  f.add("beta2", &Config::beta2).range(0.0, 0.999999).help("memory of the mean of their squares");
  f.add("epsilon", &Config::epsilon)
      .range(0.0, 1.0)
      .help("added to the divisor, so that it is never zero");
}

}  // namespace

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

}  // namespace trireme::optim
