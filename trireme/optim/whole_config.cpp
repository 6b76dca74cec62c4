#include "trireme/optim/whole_config.h"

#include "trireme/optim/schedule/describe_rate.h"

namespace trireme::optim {
namespace {

template <class Config>
void describe_adapt_all(config::Fields<Config>& f) {
  f.add("adapt_all", &Config::adapt_all)
      .help("adapt the learning rate of norms and biases (parameters with one dim), too");
}

}  // namespace

void LambConfig::describe(config::Fields<LambConfig>& f) {
  describe_rate(f);
  describe_means(f);
  describe_adapt_all(f);
}

void LarsConfig::describe(config::Fields<LarsConfig>& f) {
  describe_rate(f);
  f.add("momentum", &LarsConfig::momentum).range(0.0, 0.999999).help("momentum");
  f.add("trust_coefficient", &LarsConfig::trust_coefficient)
      .synonyms({"trust"})
      .range(0.0, 1e3)
      .help(
          "trust coefficient: norm of a step relative to the parameter's norm at learning rate 1");
  describe_adapt_all(f);
}

void AdafactorConfig::describe(config::Fields<AdafactorConfig>& f) {
  describe_rate(f);
  f.add("beta2_decay", &AdafactorConfig::beta2_decay)
      .range(-10.0, 0.0)
      .help(
          "exponent of the decay of the running mean of squares: step n has weight n^beta2_decay");
  f.add("eps", &AdafactorConfig::eps)
      .range(0.0, 1.0)
      .help("lower bound of the parameter size to which steps are proportional");
  f.add("clip_threshold", &AdafactorConfig::clip_threshold)
      .range(1e-6, 1e6)
      .help("maximum root mean square of a step");
}

void MuonConfig::describe(config::Fields<MuonConfig>& f) {
  describe_rate(f);
  f.add("momentum", &MuonConfig::momentum).range(0.0, 0.999999).help("momentum");
  f.add("nesterov", &MuonConfig::nesterov).help("use Nesterov momentum");
  f.add("match_adam", &MuonConfig::match_adam)
      .help(
          "scale the steps of matrices to those of AdamW at this learning rate; false: as in the "
          "original Muon");
  f.add("adam_betas", &MuonConfig::adam_betas)
      .range(0.0, kBetaMax)
      .check(mistake_in_betas)
      .synonyms({"adam_beta1", "adam_beta2"})
      .help("betas of AdamW, which updates parameters that are not matrices");
  f.add("adam_names", &MuonConfig::adam_names)
      .help(
          "names of matrices that AdamW updates, such as embeddings and heads; * matches any text");
}

}  // namespace trireme::optim
