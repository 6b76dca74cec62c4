#include "trireme/train/evaluate/significance.h"

#include <ATen/ops/argmax.h>
#include <ATen/ops/eq.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "trireme/base/check.h"
#include "trireme/base/error.h"
#include "trireme/base/random.h"
#include "trireme/train/evaluate/tally.h"

namespace trireme::train {
namespace {

// Makes these random numbers differ from all others that use the same seed.
constexpr std::uint64_t kBootstrapPurpose = 0x424F4F5453545241;

// The probability of at most `least` heads in `all` tosses of a fair coin.
double tail_of_tosses(std::int64_t least, std::int64_t all) {
  const auto n = static_cast<double>(all);
  double sum = 0;
  for (std::int64_t k = 0; k <= least; ++k) {
    const auto heads = static_cast<double>(k);
    sum += std::exp(std::lgamma(n + 1) - std::lgamma(heads + 1) - std::lgamma(n - heads + 1) -
                    n * std::log(2.0));
  }
  return sum;
}

// Interpolates linearly between two neighbouring values.
double quantile(const std::vector<double>& sorted, double share) {
  const double at = share * static_cast<double>(sorted.size() - 1);
  const auto below = static_cast<std::size_t>(at);
  const std::size_t above = std::min(below + 1, sorted.size() - 1);
  return sorted[below] + (at - static_cast<double>(below)) * (sorted[above] - sorted[below]);
}

// Appends the loss of each sample of a batch, a mean over its terms; a sample without terms has
// none.
void add_losses(std::vector<double>& all, const at::Tensor& output, const at::Tensor& target,
                const model::Loss& loss) {
  for (std::int64_t i = 0; i < target.size(0); ++i) {
    const at::Tensor of = target.narrow(0, i, 1);
    const std::int64_t terms = loss.terms(of);
    const double sum = loss.sum(output.narrow(0, i, 1), of).item<double>();
    all.push_back(terms == 0 ? 0 : sum / static_cast<double>(terms));
  }
}

void add_right(std::vector<std::uint8_t>& all, const at::Tensor& output, const at::Tensor& target) {
  const at::Tensor is_right = output.argmax(-1).eq(target);
  const bool* const first = is_right.const_data_ptr<bool>();
  all.insert(all.end(), first, first + is_right.numel());
}

// The results of one of two models.
struct ComparedModel {
  Tally tally;
  std::vector<double> losses{};
  std::vector<std::uint8_t> right{};
};

}  // namespace

McNemar mcnemar(std::span<const std::uint8_t> first, std::span<const std::uint8_t> second) {
  TRIREME_CHECK_EQ(first.size(), second.size(),
                   "the models have answered different numbers of samples");
  McNemar test;
  for (std::size_t i = 0; i < first.size(); ++i) {
    if (first[i] != 0 && second[i] == 0) ++test.only_first;
    if (first[i] == 0 && second[i] != 0) ++test.only_second;
  }
  const std::int64_t fewer = std::min(test.only_first, test.only_second);
  test.p = std::min(1.0, 2 * tail_of_tosses(fewer, test.only_first + test.only_second));
  return test;
}

Interval paired_bootstrap(std::span<const double> first, std::span<const double> second,
                          const BootstrapOptions& options) {
  TRIREME_CHECK_EQ(first.size(), second.size(),
                   "the models have losses of different numbers of samples");
  TRIREME_CHECK(!first.empty() && options.resamples > 0,
                "the bootstrap requires samples and resamples");
  std::vector<double> gaps;
  double sum = 0;
  for (std::size_t i = 0; i < first.size(); ++i) {
    gaps.push_back(first[i] - second[i]);
    if (!std::isfinite(gaps.back())) {
      throw Error(ErrorCode::InvalidInput, "sample " + std::to_string(i) +
                                               " has a loss that is not finite: such jobs cannot "
                                               "be compared");
    }
    sum += gaps.back();
  }
  const auto count = static_cast<double>(gaps.size());
  std::vector<double> means;
  for (int r = 0; r < options.resamples; ++r) {
    Random random(options.seed ^ kBootstrapPurpose, static_cast<std::uint64_t>(r));
    double drawn = 0;
    for (std::size_t i = 0; i < gaps.size(); ++i) drawn += gaps[random.below(gaps.size())];
    means.push_back(drawn / count);
  }
  std::sort(means.begin(), means.end());
  const double left_out = (1 - options.level) / 2;
  return {
      .mean = sum / count, .low = quantile(means, left_out), .high = quantile(means, 1 - left_out)};
}

ModelComparison compare_models(const PanelMember& first, const PanelMember& second,
                               const PanelOptions& options, std::uint64_t seed) {
  const data::Source& source = *first.source;
  const data::Form& form = source.form();
  const bool is_of_classes =
      form.classes > 0 && form.target_sizes.empty() && form.target_type == at::kLong;
  // The sum of the losses of several tasks has no unit.
  const auto units = form.tasks.empty() ? form.target_standards : std::vector<data::Standard>{};
  const Tally tally(source, *options.loss, can_rank(source));
  ComparedModel compared[] = {{tally}, {tally}};
  ask_panel({first, second}, options, [&](const PanelAnswers& answers) {
    const data::Batch& batch = answers.batch;
    for (std::size_t i = 0; i < 2; ++i) {
      const at::Tensor& output = answers.outputs[i];
      compared[i].tally.add(answers.first, output, batch);
      if (batch.count() == 0) continue;
      add_losses(compared[i].losses, data::restored(output, units),
                 data::restored(batch.target, units), *options.loss);
      if (is_of_classes) add_right(compared[i].right, output, batch.target);
    }
  });
  ModelComparison found{
      .first = compared[0].tally.finish(),
      .second = compared[1].tally.finish(),
      .answers = {},
      .loss = paired_bootstrap(compared[0].losses, compared[1].losses, {.seed = seed})};
  if (is_of_classes) found.answers = mcnemar(compared[0].right, compared[1].right);
  return found;
}

}  // namespace trireme::train
