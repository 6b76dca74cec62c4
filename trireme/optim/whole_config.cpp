#include "trireme/optim/whole_config.h"

#include "trireme/optim/schedule/describe_rate.h"

namespace trireme::optim {
namespace {

template <class Config>
void describe_adapt_all(config::Fields<Config>& f) {
  f.add("adapt_all", &Config::adapt_all)
      .help("norms and biases (parameters of one dim) have rates of their own too");
}

}  // namespace

void LambConfig::describe(config::Fields<LambConfig>& f) {
  describe_rate(f);
  describe_means(f);
  describe_adapt_all(f);
}

void LarsConfig::describe(config::Fields<LarsConfig>& f) {
  describe_rate(f);
  f.add("momentum", &LarsConfig::momentum).range(0.0, 0.999999).help("memory of past steps");
  f.add("trust", &LarsConfig::trust)
      .range(0.0, 1e3)
      .help("share of a parameter's length that a step at rate 1 may have");
  describe_adapt_all(f);
}

void AdafactorConfig::describe(config::Fields<AdafactorConfig>& f) {
  describe_rate(f);
  f.add("beta2_decay", &AdafactorConfig::beta2_decay)
      .range(-10.0, 0.0)
      .help("step n has n to this power as its share of the mean of squares");
  f.add("epsilon", &AdafactorConfig::epsilon)
      .range(0.0, 1.0)
      .help("least size of a parameter that steps are in proportion to");
  f.add("clip_threshold", &AdafactorConfig::clip_threshold)
      .range(1e-6, 1e6)
      .help("steps whose root mean square is larger are shortened to it");
}

void MuonConfig::describe(config::Fields<MuonConfig>& f) {
  describe_rate(f);
  f.add("momentum", &MuonConfig::momentum).range(0.0, 0.999999).help("memory of past gradients");
  f.add("nesterov", &MuonConfig::nesterov).help("look one step ahead along the momentum");
  f.add("match_adam", &MuonConfig::match_adam)
      .help("matrices move as far as AdamW would at this rate; false: as Muon's first version");
  f.add("adam_beta1", &MuonConfig::adam_beta1)
      .range(0.0, 0.999999)
      .help("AdamW's memory of gradients, for what is no matrix");
  f.add("adam_beta2", &MuonConfig::adam_beta2)
      .range(0.0, 0.999999)
      .help("AdamW's memory of their squares");
  f.add("adam_names", &MuonConfig::adam_names)
      .help("names of matrices that AdamW updates: tables, heads; * stands for anything");
}

}  // namespace trireme::optim
