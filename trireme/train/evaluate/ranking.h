// Ranking is what the area under the ROC curve is made of: the probability that a model gave each
// class, for every sample of an evaluation.
//
// Meaning: the area is how often a sample of a class got more than one of another, ties half; of
//          two classes that of the second, of more the mean over those that occur, each against
//          the rest. What is no number counts as less than any. Ranks write their own samples into
//          a table of zeros, and the sum is the whole.
// Threads: a value.

#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace trireme::train {

// `scores` of samples, and which of them are of the class. 0 where all or none are.
double area_under_curve(std::span<const float> scores, std::span<const std::uint8_t> is_positive);

class Ranking {
 public:
  static constexpr std::int64_t kCellsMax = std::int64_t{1} << 24;

  Ranking(std::int64_t samples, std::int64_t classes);

  void set(std::int64_t sample, std::int64_t label, std::span<const float> probabilities);
  // A row a sample: the probabilities, then its class; to be added up over ranks.
  std::span<float> table() noexcept { return table_; }
  double roc_auc() const;

 private:
  double area_of(std::int64_t label) const;

  std::int64_t samples_;
  std::int64_t classes_;
  std::vector<float> table_;
};

}  // namespace trireme::train
