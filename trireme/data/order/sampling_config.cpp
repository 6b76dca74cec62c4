#include "trireme/data/order/sampling_config.h"

namespace trireme::data {

void SamplingConfig::describe(config::Fields<SamplingConfig>& f) {
  f.add("per_class", &SamplingConfig::per_class)
      .at_least(0)
      .unit("samples")
      .help(
          "that are trained on at most: one number, or one a class; empty: all. Where a class "
          "has 0, nothing of it is evaluated either");
  f.add("folds", &SamplingConfig::folds)
      .range(0, 1000)
      .help(
          "parts that the training data are cut into, classes evenly, for cross-validation; 0: "
          "not cut");
  f.add("fold", &SamplingConfig::fold)
      .range(0, 999)
      .help("which part, from 0, is evaluated on and not trained on");
  f.add("fold_seed", &SamplingConfig::fold_seed).help("decides which samples are in which part");
  f.add("balance", &SamplingConfig::balance)
      .names({{"none", Balance::None}, {"over", Balance::Over}, {"under", Balance::Under}})
      .help("train on every class as often as on the largest (over) or the smallest (under)");
  f.add("stratify", &SamplingConfig::is_stratified)
      .help("every batch has its share of every class");
  f.require([](const SamplingConfig& c) {
    const bool is_lost =
        c.folds == 1 || (c.folds > 0 && c.fold >= c.folds) || (c.folds == 0 && c.fold > 0);
    return is_lost ? std::string("fold is below folds, which is 2 or more") : std::string();
  });
}

}  // namespace trireme::data
