#include "trireme/data/order/sampling.h"

#include "trireme/base/error.h"
#include "trireme/data/labels.h"
#include "trireme/data/source/balanced_source.h"
#include "trireme/data/source/stratified_source.h"
#include "trireme/data/source/subset_source.h"

namespace trireme::data {
namespace {

using SourcePtr = std::shared_ptr<const Source>;

std::int64_t kept_of(const SamplingConfig& config, std::int64_t label) {
  const auto index =
      config.per_class.size() == 1 ? std::size_t{0} : static_cast<std::size_t>(label);
  return config.per_class[index];
}

// Keeps the first samples of each class, up to the given number; in a test set, keeps all samples
// except those of classes with none.
SourcePtr with_fewer(const SourcePtr& source, const SamplingConfig& config, bool is_test) {
  const std::int64_t classes = source->form().classes;
  const std::vector<std::int64_t> labels = labels_of(*source, "data.per_class");
  if (config.per_class.size() != 1 && std::ssize(config.per_class) != classes) {
    throw Error(ErrorCode::InvalidInput,
                "data.per_class has " + std::to_string(config.per_class.size()) +
                    " numbers, and there are " + std::to_string(classes) + " classes");
  }
  std::vector<std::int64_t> seen(static_cast<std::size_t>(classes)), kept;
  for (std::size_t i = 0; i < labels.size(); ++i) {
    const std::int64_t most = kept_of(config, labels[i]);
    const std::int64_t before = seen[static_cast<std::size_t>(labels[i])]++;
    if (is_test ? most > 0 : before < most) kept.push_back(static_cast<std::int64_t>(i));
  }
  return std::make_shared<SubsetSource>(source, std::move(kept));
}

Sets with_fold(const Sets& sets, const SamplingConfig& config) {
  const SourcePtr& source = sets.train;
  const bool has_classes = source->form().classes > 0 && source->form().target_sizes.empty();
  const std::vector<std::int64_t> labels =
      has_classes ? labels_of(*source, "data.folds")
                  : std::vector<std::int64_t>(static_cast<std::size_t>(source->count()));
  const std::vector<int> folds =
      folds_of(labels, has_classes ? source->form().classes : 1, config.folds, config.fold_seed);
  std::vector<std::int64_t> train, test;
  for (std::size_t i = 0; i < folds.size(); ++i) {
    (folds[i] == config.fold ? test : train).push_back(static_cast<std::int64_t>(i));
  }
  return {.train = std::make_shared<SubsetSource>(source, std::move(train)),
          .test = std::make_shared<SubsetSource>(sets.plain ? sets.plain : source, std::move(test)),
          .plain = nullptr,
          .notes = sets.notes};
}

}  // namespace

Sets divided(Sets sets, const SamplingConfig& config) {
  if (config.folds > 0) sets = with_fold(sets, config);
  if (config.per_class.empty()) return sets;
  sets.train = with_fewer(sets.train, config, false);
  if (sets.test) sets.test = with_kept_classes(std::move(sets.test), config);
  return sets;
}

SourcePtr with_kept_classes(SourcePtr test, const SamplingConfig& config) {
  return config.per_class.empty() ? test : with_fewer(test, config, true);
}

SourcePtr resampled(SourcePtr train, const SamplingConfig& config, bool is_shuffled) {
  if (config.balance != ClassBalance::None) {
    train = std::make_shared<BalancedSource>(std::move(train), config.balance);
  }
  if (config.is_stratified) {
    train = std::make_shared<StratifiedSource>(std::move(train), is_shuffled);
  }
  return train;
}

void SamplingConfig::describe(config::Fields<SamplingConfig>& f) {
  f.add("per_class", &SamplingConfig::per_class)
      .at_least(0)
      .unit("samples")
      .help(
          "at most this many are trained on: one number, or one per class; empty: all. Where a "
          "class "
          "has 0, nothing of it is evaluated either");
  f.add("folds", &SamplingConfig::folds)
      .range(0, 1000)
      .help(
          "parts that the training data are cut into, classes evenly, for cross-validation; 0: "
          "not cut");
  f.add("fold", &SamplingConfig::fold)
      .range(0, 999)
      .help("the part, from 0, that is evaluated on and not trained on");
  f.add("fold_seed", &SamplingConfig::fold_seed).help("decides which samples are in which part");
  f.add("balance", &SamplingConfig::balance)
      .names({{"none", ClassBalance::None},
              {"over", ClassBalance::Over},
              {"under", ClassBalance::Under}})
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
