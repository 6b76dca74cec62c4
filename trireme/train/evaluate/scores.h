// Scores holds the counts of an evaluation, and computes metrics from them. The counts of several
// ranks add up to those of one rank with all samples.
//
// Thread safety: a value.

#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "trireme/train/evaluate/number_errors.h"

namespace trireme::train {

struct ClassScore {
  double precision = 0;
  double recall = 0;
  double f1 = 0;
  std::int64_t count = 0;  // samples of this class
};

// The largest k of top-k accuracy.
inline constexpr int kTopMax = 10;

// The k of a metric "top2" to "top10"; nullopt for other metrics.
std::optional<int> top_of(const std::string& metric);

class Scores {
 public:
  Scores() : Scores(0) {}
  // `classes` is 0 if targets are numbers; these have `columns`, each with the same weight in r2.
  // With many classes (a vocabulary) no confusion matrix is kept.
  explicit Scores(std::int64_t classes, std::int64_t columns = 1);
  static constexpr std::int64_t kMatrixClassesMax = 1000;

  void add_loss(double sum, std::int64_t terms);
  void add_answers(std::int64_t right, std::int64_t all);
  // Samples that could not be read; no other score counts them.
  void add_skipped(std::int64_t count) { skipped_ += static_cast<double>(count); }
  // An answer that is not one of the classes is wrong, and is in no column of the matrix.
  // REQUIRES: 0 <= truth < classes, if a matrix is kept.
  void add_answer(std::int64_t truth, std::int64_t answer);
  // The probability of a predicted class, and whether it was correct.
  void add_confidence(double confidence, bool is_right);
  // Answers whose correct class is among the k most likely. REQUIRES: 1 <= k <= kTopMax.
  void add_top(int k, std::int64_t right);
  // Not a count: the result of a Ranking over all ranks.
  void set_roc_auc(double area) { roc_auc_ = area; }

  std::int64_t skipped() const noexcept { return static_cast<std::int64_t>(skipped_); }
  // Whether anything was scored at all.
  bool has_terms() const noexcept { return terms_ > 0; }
  double loss() const noexcept;
  double accuracy() const noexcept;
  double perplexity() const noexcept;
  double top(int k) const;
  // The mean recall over the classes that occur.
  double balanced_accuracy() const { return mean_of_classes(&ClassScore::recall); }
  // The expected calibration error with 15 bins of equal width (Guo et al. 2017).
  double calibration_error() const noexcept;
  // Of targets that are numbers.
  NumberErrors& numbers() noexcept { return numbers_; }
  const NumberErrors& numbers() const noexcept { return numbers_; }
  std::optional<double> roc_auc() const noexcept { return roc_auc_; }
  // Macro F1: the mean over the classes that occur.
  double f1() const { return mean_of_classes(&ClassScore::f1); }
  std::vector<ClassScore> classes() const;
  // Rows are actual classes, columns predicted classes. Empty if no matrix is kept.
  const std::vector<std::int64_t>& matrix() const noexcept { return matrix_; }
  std::int64_t class_count() const noexcept { return classes_; }
  std::int64_t answers() const noexcept { return answers_; }

  // The scores of each task, if samples have several tasks.
  void add_task(const std::string& name, Scores scores);
  Scores& task(std::size_t index) { return tasks_[index]; }
  // Named figures of the tasks for reports: "class_accuracy", "mean_mae" and so on.
  std::vector<std::pair<std::string, double>> task_figures() const;

  // The value of a metric by its name. REQUIRES: the metric exists.
  double value_of(const std::string& metric) const;

  // All counts in one vector, to be summed over ranks and set again.
  std::vector<double> counts() const;
  void set_counts(const std::vector<double>& counts);
  // Moments of numbers cannot be summed. Those of all ranks are concatenated and merged in rank
  // order.
  std::vector<double> moments() const;
  void set_moments(const std::vector<double>& of_ranks);

 private:
  static constexpr std::size_t kBins = 15;

  struct Bin {
    double count = 0;
    double confidence = 0;
    double right = 0;
  };

  // Calls `visit` with every number that is a plain sum over samples, also those of the tasks.
  template <class Self, class Visit>
  static void visit_sums(Self& self, const Visit& visit);
  // The mean over the classes that occur.
  double mean_of_classes(double ClassScore::* member) const;
  // The moments of this object and of all tasks.
  std::vector<Moments*> all_moments();

  std::int64_t classes_ = 0;
  double loss_ = 0;
  std::int64_t terms_ = 0;
  std::int64_t right_ = 0;
  std::int64_t answers_ = 0;
  double skipped_ = 0;
  std::vector<std::int64_t> matrix_;
  std::vector<std::int64_t> strange_;   // by actual class: answers that are not a class
  std::array<double, kTopMax> tops_{};  // at k - 1
  std::array<Bin, kBins> bins_{};
  NumberErrors numbers_;
  std::optional<double> roc_auc_;
  std::vector<std::string> task_names_;
  std::vector<Scores> tasks_;
};

}  // namespace trireme::train
