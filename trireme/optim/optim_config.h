// The settings of [optim]: those of every optimizer (groups, clipping), and those of the
// element-wise optimizers; trireme/optim/whole_config.h has the others.

#pragma once

#include <string>
#include <vector>

#include "trireme/base/config/fields.h"

namespace trireme::optim {

// The settings of every optimizer.
struct OptimConfig {
  double clip_norm = 0;
  double clip_value = 0;
  bool decay_all = false;
  std::vector<std::string> no_decay = {};
  std::vector<std::string> rate_factors = {};
  double depth_factor = 1;
  std::int64_t unfreeze_every = 0;

  static void describe(config::Fields<OptimConfig>& f);
};

struct SgdConfig {
  double learning_rate = 0.01;
  double momentum = 0.9;
  bool nesterov = false;
  double weight_decay = 0;

  static void describe(config::Fields<SgdConfig>& f);
};

struct AdamConfig {
  double learning_rate = 1e-3;
  double beta1 = 0.9;
  double beta2 = 0.999;
  double epsilon = 1e-8;
  double weight_decay = 0;

  static void describe(config::Fields<AdamConfig>& f);
};

struct AdamwConfig {
  double learning_rate = 1e-3;
  double beta1 = 0.9;
  double beta2 = 0.999;
  double epsilon = 1e-8;
  double weight_decay = 0.01;

  static void describe(config::Fields<AdamwConfig>& f);
};

struct AdagradConfig {
  double learning_rate = 0.01;
  double rate_decay = 0;
  double epsilon = 1e-10;
  double weight_decay = 0;

  static void describe(config::Fields<AdagradConfig>& f);
};

struct RmspropConfig {
  double learning_rate = 0.01;
  double alpha = 0.99;
  double epsilon = 1e-8;
  double momentum = 0;
  bool centered = false;
  double weight_decay = 0;

  static void describe(config::Fields<RmspropConfig>& f);
};

struct LionConfig {
  double learning_rate = 1e-4;
  double beta1 = 0.9;
  double beta2 = 0.99;
  double weight_decay = 0.01;

  static void describe(config::Fields<LionConfig>& f);
};

}  // namespace trireme::optim
