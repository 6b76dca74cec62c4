// The settings of the optimizers of [optim] that need whole parameters: lamb, lars, adafactor,
// muon.

#pragma once

#include <string>
#include <vector>

#include "trireme/base/config/fields.h"

namespace trireme::optim {

struct LambConfig {
  double learning_rate = 1e-3;
  double beta1 = 0.9;
  double beta2 = 0.999;
  double epsilon = 1e-6;
  double weight_decay = 0.01;
  bool adapt_all = false;

  static void describe(config::Fields<LambConfig>& f);
};

struct LarsConfig {
  double learning_rate = 0.1;
  double momentum = 0.9;
  double trust = 0.001;
  double weight_decay = 0;
  bool adapt_all = false;

  static void describe(config::Fields<LarsConfig>& f);
};

struct AdafactorConfig {
  double learning_rate = 1e-2;
  double beta2_decay = -0.8;
  double epsilon = 1e-3;
  double clip_threshold = 1;
  double weight_decay = 0;

  static void describe(config::Fields<AdafactorConfig>& f);
};

struct MuonConfig {
  double learning_rate = 1e-3;
  double momentum = 0.95;
  bool nesterov = true;
  bool match_adam = true;
  double weight_decay = 0.1;
  double adam_beta1 = 0.9;
  double adam_beta2 = 0.95;
  std::vector<std::string> adam_names = {"*wte*", "*wpe*", "*embed*", "*head*"};

  static void describe(config::Fields<MuonConfig>& f);
};

}  // namespace trireme::optim
