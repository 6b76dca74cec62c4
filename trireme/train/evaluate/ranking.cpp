#include "trireme/train/evaluate/ranking.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "trireme/base/check.h"

namespace trireme::train {

double area_under_curve(std::span<const float> scores, std::span<const std::uint8_t> is_positive) {
  TRIREME_CHECK_EQ(scores.size(), is_positive.size(),
                   "the number of scores differs from the number of samples");
  std::vector<std::size_t> order(scores.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  const auto score_of = [&](std::size_t i) {
    return std::isnan(scores[i]) ? -std::numeric_limits<float>::infinity() : scores[i];
  };
  std::ranges::sort(order, {}, score_of);
  double ranks = 0, positive = 0;
  for (std::size_t begin = 0; begin < order.size();) {
    std::size_t end = begin;
    double here = 0;
    while (end < order.size() && score_of(order[end]) == score_of(order[begin])) {
      here += is_positive[order[end++]] != 0 ? 1 : 0;
    }
    // Tied samples share the mean of their ranks, which count from 1.
    ranks += here * (static_cast<double>(begin + end) + 1) / 2;
    positive += here;
    begin = end;
  }
  const double negative = static_cast<double>(scores.size()) - positive;
  if (positive == 0 || negative == 0) return 0;
  return (ranks - positive * (positive + 1) / 2) / (positive * negative);
}

Ranking::Ranking(std::int64_t samples, std::int64_t classes)
    : samples_(samples),
      classes_(classes),
      table_(static_cast<std::size_t>(samples * (classes + 1))) {}

void Ranking::set(std::int64_t sample, std::int64_t label, std::span<const float> probabilities) {
  TRIREME_CHECK(sample >= 0 && sample < samples_, "sample ", sample, " of ", samples_);
  TRIREME_CHECK(std::ssize(probabilities) >= classes_, probabilities.size(), " probabilities of ",
                classes_, " classes");
  float* const row = table_.data() + sample * (classes_ + 1);
  std::copy_n(probabilities.begin(), classes_, row);
  row[classes_] = static_cast<float>(label + 1);  // 0: never set
}

std::optional<double> Ranking::area_of(std::int64_t label) const {
  std::vector<float> scores;
  std::vector<std::uint8_t> is_positive;
  for (std::int64_t i = 0; i < samples_; ++i) {
    const float* const row = table_.data() + i * (classes_ + 1);
    if (row[classes_] == 0) continue;
    scores.push_back(row[label]);
    is_positive.push_back(row[classes_] == static_cast<float>(label + 1) ? 1 : 0);
  }
  const auto positive = std::ranges::count(is_positive, std::uint8_t{1});
  if (positive == 0 || positive == std::ssize(is_positive)) return std::nullopt;
  return area_under_curve(scores, is_positive);
}

double Ranking::roc_auc() const {
  if (classes_ == 2) return area_of(1).value_or(0);
  double sum = 0;
  int occurring = 0;
  for (std::int64_t label = 0; label < classes_; ++label) {
    if (const auto area = area_of(label)) {
      sum += *area;
      ++occurring;
    }
  }
  return occurring == 0 ? 0 : sum / occurring;
}

}  // namespace trireme::train
