// Settings that several optimizers have in common.

#pragma once

#include <string>
#include <vector>

#include "trireme/base/config/fields.h"

namespace trireme::optim {

inline constexpr double kRateMax = 1e3;
inline constexpr double kBetaMax = 0.999999;

inline std::string mistake_in_betas(const std::vector<double>& betas) {
  return betas.size() == 2 ? "" : "expected two numbers, such as [0.9, 0.999]";
}

template <class Config>
void describe_rate(config::Fields<Config>& f) {
  f.add("lr", &Config::lr)
      .range(0.0, kRateMax)
      .synonyms({"learning_rate", "rate", "base_lr", "max_lr"})
      .help("base learning rate, after warm-up and before the schedule reduces it");
  f.add("weight_decay", &Config::weight_decay)
      .range(0.0, kRateMax)
      .synonyms({"wd", "l2"})
      .help("weight decay");
}

template <class Config>
void describe_betas(config::Fields<Config>& f) {
  f.add("betas", &Config::betas)
      .range(0.0, kBetaMax)
      .check(mistake_in_betas)
      .synonyms({"beta1", "beta2", "adam_beta1", "adam_beta2"})
      .help("decay of the running means of gradients and of squared gradients");
}

template <class Config>
void describe_epsilon(config::Fields<Config>& f) {
  f.add("eps", &Config::eps)
      .range(0.0, 1.0)
      .synonyms({"epsilon", "adam_epsilon"})
      .help("added to the denominator for numerical stability");
}

template <class Config>
void describe_means(config::Fields<Config>& f) {
  describe_betas(f);
  describe_epsilon(f);
}

}  // namespace trireme::optim
