// The settings of [optim]: those of every optimizer (groups, clipping), and those of the
// element-wise optimizers; trireme/optim/whole_config.h has the others. `Rule` is the optimizer
// with these settings.

#pragma once

#include <string>
#include <vector>

#include "trireme/base/config/fields.h"

namespace trireme::optim {

class Adagrad;
class Adam;
class Lion;
class Rmsprop;
class Sgd;

// The settings of every optimizer.
struct OptimConfig {
  double max_grad_norm = 0;
  double max_grad_value = 0;
  bool decay_all = false;
  std::vector<std::string> no_decay = {};
  std::vector<std::string> lr_factors = {};
  double layer_decay = 1;
  std::int64_t unfreeze_every = 0;

  static void describe(config::Fields<OptimConfig>& f);
};

struct SgdConfig {
  using Rule = Sgd;
  double lr = 0.01;
  double momentum = 0.9;
  bool nesterov = false;
  double weight_decay = 0;

  static void describe(config::Fields<SgdConfig>& f);
};

struct AdamConfig {
  using Rule = Adam;
  double lr = 1e-3;
  std::vector<double> betas = {0.9, 0.999};
  double eps = 1e-8;
  double weight_decay = 0;

  static void describe(config::Fields<AdamConfig>& f);
};

struct AdamwConfig {
  using Rule = Adam;
  double lr = 1e-3;
  std::vector<double> betas = {0.9, 0.999};
  double eps = 1e-8;
  double weight_decay = 0.01;

  static void describe(config::Fields<AdamwConfig>& f);
};

struct AdagradConfig {
  using Rule = Adagrad;
  double lr = 0.01;
  double lr_decay = 0;
  double eps = 1e-10;
  double weight_decay = 0;

  static void describe(config::Fields<AdagradConfig>& f);
};

struct RmspropConfig {
  using Rule = Rmsprop;
  double lr = 0.01;
  double alpha = 0.99;
  double eps = 1e-8;
  double momentum = 0;
  bool centered = false;
  double weight_decay = 0;

  static void describe(config::Fields<RmspropConfig>& f);
};

struct LionConfig {
  using Rule = Lion;
  double lr = 1e-4;
  std::vector<double> betas = {0.9, 0.99};
  double weight_decay = 0.01;

  static void describe(config::Fields<LionConfig>& f);
};

}  // namespace trireme::optim
