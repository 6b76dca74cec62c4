// compare_models() tests whether two models differ significantly, from their results for the same
// samples.
//
// Errors:        InvalidInput for a loss that is not finite; what ask_panel() throws.
// Thread safety: one thread; the other functions are pure. The same seed gives the same interval on
//                every machine.

#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "trireme/train/evaluate/panel.h"
#include "trireme/train/evaluate/scores.h"

namespace trireme::train {

// McNemar's exact test on the samples that only one of the two models predicted correctly: the
// probability of an equally or more uneven split if both models were equally good.
struct McNemar {
  std::int64_t only_first = 0;
  std::int64_t only_second = 0;
  double p = 1;  // two-sided; 1 if no sample distinguishes the models
};

// REQUIRES: the same number of both.
McNemar mcnemar(std::span<const std::uint8_t> first, std::span<const std::uint8_t> second);

struct Interval {
  double mean = 0;
  double low = 0;
  double high = 0;
};

struct BootstrapOptions {
  int resamples = 2000;
  double level = 0.95;
  std::uint64_t seed = 1;
};

// The mean of first - second over samples, and its confidence interval by a paired bootstrap: the
// central quantiles of the means of `resamples` draws with replacement. REQUIRES: the same number
// of both, at least one.
Interval paired_bootstrap(std::span<const double> first, std::span<const double> second,
                          const BootstrapOptions& options = {});

struct ModelComparison {
  Scores first;
  Scores second;
  std::optional<McNemar> answers;  // if samples have one class each
  Interval loss;                   // per sample, first - second
};

// Every loss is options.loss, so that losses are comparable. `seed`: of the bootstrap.
ModelComparison compare_models(const PanelMember& first, const PanelMember& second,
                               const PanelOptions& options, std::uint64_t seed = 1);

}  // namespace trireme::train
