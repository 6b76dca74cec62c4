// Ranking computes the area under the ROC curve from the predicted probabilities of every sample of
// an evaluation.
//
// The area is the probability that a sample of a class gets a higher score than a sample of another
// class; ties count half. With two classes it is the area of the second one, with more classes the
// mean of one-versus-rest over the classes that occur. NaN counts as smaller than any number. Each
// rank writes its own samples into a table of zeros, and the sum over ranks is the whole table.
//
// Thread safety: a value.

#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace trireme::train {

// `is_positive`: which samples belong to the class. 0 if all or none do.
double area_under_curve(std::span<const float> scores, std::span<const std::uint8_t> is_positive);

class Ranking {
 public:
  static constexpr std::int64_t kCellsMax = std::int64_t{1} << 24;

  Ranking(std::int64_t samples, std::int64_t classes);

  void set(std::int64_t sample, std::int64_t label, std::span<const float> probabilities);
  // One row per sample: the probabilities, then its class. Callers sum it over ranks.
  std::span<float> table() noexcept { return table_; }
  double roc_auc() const;

 private:
  // Nullopt if no sample, or every one, is of the class.
  std::optional<double> area_of(std::int64_t label) const;

  std::int64_t samples_;
  std::int64_t classes_;
  std::vector<float> table_;
};

}  // namespace trireme::train
