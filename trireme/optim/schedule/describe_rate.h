// Settings that several optimizers have in common.

#pragma once

#include "trireme/base/config/fields.h"

namespace trireme::optim {

inline constexpr double kRateMax = 1e3;

template <class Config>
void describe_rate(config::Fields<Config>& f) {
  f.add("learning_rate", &Config::learning_rate)
      .range(0.0, kRateMax)
      .help("base learning rate, after warm-up and before the schedule reduces it");
  f.add("weight_decay", &Config::weight_decay).range(0.0, kRateMax).help("weight decay");
}

template <class Config>
void describe_betas(config::Fields<Config>& f) {
  f.add("beta1", &Config::beta1)
      .range(0.0, 0.999999)
      .help("decay of the running mean of gradients");
  f.add("beta2", &Config::beta2)
      .range(0.0, 0.999999)
      .help("decay of the running mean of squared gradients");
}

template <class Config>
void describe_epsilon(config::Fields<Config>& f) {
  f.add("epsilon", &Config::epsilon)
      .range(0.0, 1.0)
      .help("added to the denominator for numerical stability");
}

template <class Config>
void describe_means(config::Fields<Config>& f) {
  describe_betas(f);
  describe_epsilon(f);
}

}  // namespace trireme::optim
