// The settings of the optimizers of [optim] that need whole parameters: lamb, lars, adafactor,
// muon. `Rule` is the optimizer with these settings.

#pragma once

#include <string>
#include <vector>

#include "trireme/base/config/fields.h"

namespace trireme::optim {

class Adafactor;
class Lamb;
class Lars;
class Muon;

struct LambConfig {
  using Rule = Lamb;
  double lr = 1e-3;
  std::vector<double> betas = {0.9, 0.999};
  double eps = 1e-6;
  double weight_decay = 0.01;
  bool adapt_all = false;

  static void describe(config::Fields<LambConfig>& f);
};

struct LarsConfig {
  using Rule = Lars;
  double lr = 0.1;
  double momentum = 0.9;
  double trust_coefficient = 0.001;
  double weight_decay = 0;
  bool adapt_all = false;

  static void describe(config::Fields<LarsConfig>& f);
};

struct AdafactorConfig {
  using Rule = Adafactor;
  double lr = 1e-2;
  double beta2_decay = -0.8;
  double eps = 1e-3;
  double clip_threshold = 1;
  double weight_decay = 0;

  static void describe(config::Fields<AdafactorConfig>& f);
};

struct MuonConfig {
  using Rule = Muon;
  double lr = 1e-3;
  double momentum = 0.95;
  bool nesterov = true;
  bool match_adam = true;
  double weight_decay = 0.1;
  std::vector<double> adam_betas = {0.9, 0.95};
  std::vector<std::string> adam_names = {"*wte*", "*wpe*", "*embed*", "*head*"};

  static void describe(config::Fields<MuonConfig>& f);
};

}  // namespace trireme::optim
