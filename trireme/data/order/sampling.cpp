#include "trireme/data/order/sampling.h"

#include <algorithm>

#include "trireme/base/check.h"
#include "trireme/base/error.h"
#include "trireme/data/labels.h"
#include "trireme/data/order/order.h"
#include "trireme/data/source/subset_source.h"

namespace trireme::data {
namespace {

using SourcePtr = std::shared_ptr<const Source>;

// Make these random draws independent of each other, and of those of the epoch's order.
constexpr std::uint64_t kBalancePurpose = 0x42414C414E434544;
constexpr std::uint64_t kStratumPurpose = 0x5354524154554D53;

// A source that chooses samples of another one by their class.
class Resampled : public Source {
 public:
  // Throws InvalidInput, which names the setting, if samples have no class.
  Resampled(SourcePtr source, const char* setting)
      : source_(std::move(source)),
        members_(members_of(labels_of(*source_, setting), source_->form().classes)) {}

  const Form& form() const override { return source_->form(); }
  // All candidates for a sample have the same class.
  void read_target(std::int64_t sample, void* target) const override {
    source_->read_target(original(sample, {}), target);
  }

 protected:
  // The sample number in the original source.
  virtual std::int64_t original(std::int64_t sample, const SampleKey& key) const = 0;

  SourcePtr source_;
  std::vector<std::vector<std::int64_t>> members_;  // by class
};

// The same number of samples of every class: samples of smaller classes are repeated within an
// epoch (over), or only a part of the larger classes is used per epoch (under).
//
// Sample i is of class i % classes (counting only classes that occur); which sample of the class it
// is depends only on (seed, epoch, i). Over: every sample of a class is used once before any is
// repeated. Under: an epoch has the size of the smallest class for each class, with other samples
// of the larger classes in each epoch. Random values for a sample are drawn from i, so that a
// repeated sample is augmented differently.
class Balanced final : public Resampled {
 public:
  Balanced(SourcePtr source, ClassBalance balance) : Resampled(std::move(source), "data.balance") {
    std::erase_if(members_, [](const auto& members) { return members.empty(); });
    for (const auto& members : members_) {
      const std::int64_t count = std::ssize(members);
      const bool is_first = per_class_ == 0;
      per_class_ = is_first                        ? count
                   : balance == ClassBalance::Over ? std::max(per_class_, count)
                                                   : std::min(per_class_, count);
    }
  }

  std::int64_t count() const override { return per_class_ * std::ssize(members_); }
  void read(std::int64_t sample, const SampleKey& key, void* input, void* target) const override {
    source_->read(original(sample, key), key, input, target);
  }

 private:
  std::int64_t original(std::int64_t sample, const SampleKey& key) const override {
    TRIREME_CHECK(sample >= 0 && sample < count(), "sample ", sample, " of ", count());
    const std::int64_t index = sample % std::ssize(members_);
    const auto& members = members_[static_cast<std::size_t>(index)];
    const std::int64_t size = std::ssize(members);
    const std::int64_t place = sample / std::ssize(members_);
    // Each pass through the class has its own order.
    const std::int64_t turns = (per_class_ + size - 1) / size;
    const Order order(key.seed ^ kBalancePurpose ^ static_cast<std::uint64_t>(index) << 32, size);
    const std::int64_t at = order.sample(key.epoch * turns + place / size, place % size);
    return members[static_cast<std::size_t>(at)];
  }

  std::int64_t per_class_ = 0;
};

// Orders an epoch so that every part of it contains each class in its overall proportion, for a
// loader that reads it in this order.
//
// The j-th of the n samples of a class is at (j + 1/2) / n of the epoch; classes at the same
// position are ordered by number. Of any b consecutive samples, a class with proportion p has p b,
// with an error of less than two. Which sample is the j-th is a keyed permutation of the class in
// each epoch, a function of (seed, epoch, j). Every sample is used once. It takes 8 bytes of memory
// per sample, and its number.
class Stratified final : public Resampled {
 public:
  // If not shuffled, the samples of a class keep their order.
  Stratified(SourcePtr source, bool is_shuffled)
      : Resampled(std::move(source), "data.stratify"), is_shuffled_(is_shuffled) {
    for (std::size_t label = 0; label < members_.size(); ++label) {
      for (std::size_t rank = 0; rank < members_[label].size(); ++rank) {
        places_.push_back({static_cast<std::uint32_t>(label), static_cast<std::uint32_t>(rank)});
      }
    }
    // Compares (j + 1/2) / n of both, in integers so that the result does not depend on rounding.
    std::ranges::sort(places_, [this](const Place& a, const Place& b) {
      const std::uint64_t left = (2 * std::uint64_t{a.rank} + 1) * members_[b.label].size();
      const std::uint64_t right = (2 * std::uint64_t{b.rank} + 1) * members_[a.label].size();
      return left != right ? left < right : a.label < b.label;
    });
  }

  std::int64_t count() const override { return source_->count(); }
  void read(std::int64_t sample, const SampleKey& key, void* input, void* target) const override {
    const std::int64_t which = original(sample, key);
    source_->read(which, {.seed = key.seed, .epoch = key.epoch, .sample = which}, input, target);
  }

 private:
  struct Place {
    std::uint32_t label = 0;
    std::uint32_t rank = 0;  // within its class
  };

  std::int64_t original(std::int64_t sample, const SampleKey& key) const override {
    TRIREME_CHECK(sample >= 0 && sample < count(), "sample ", sample, " of ", count());
    const Place& place = places_[static_cast<std::size_t>(sample)];
    const auto& members = members_[place.label];
    const Order order(key.seed ^ kStratumPurpose ^ std::uint64_t{place.label} << 32,
                      std::ssize(members), is_shuffled_);
    return members[static_cast<std::size_t>(order.sample(key.epoch, place.rank))];
  }

  bool is_shuffled_;
  std::vector<Place> places_;
};

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
    train = std::make_shared<Balanced>(std::move(train), config.balance);
  }
  if (config.is_stratified) {
    train = std::make_shared<Stratified>(std::move(train), is_shuffled);
  }
  return train;
}

void SamplingConfig::describe(config::Fields<SamplingConfig>& f) {
  f.add("per_class", &SamplingConfig::per_class)
      .at_least(0)
      .unit("samples")
      .help(
          "at most this many are trained on: one number, or one per class; empty: all. Where a "
          "class has 0, nothing of it is evaluated either");
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
