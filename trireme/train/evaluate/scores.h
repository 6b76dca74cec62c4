// Scores are what an evaluation counts, and the figures that follow from the counts: pure
// arithmetic, so that counts of many ranks add up to those of one.
//
// Threads: a value.

#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "trireme/base/moments.h"

namespace trireme::train {

struct ClassScore {
  double precision = 0;
  double recall = 0;
  double f1 = 0;
  std::int64_t count = 0;  // of samples that are of this class
};

// How many of the likeliest may be asked for.
inline constexpr int kTopMax = 10;

// The k of a metric "top2" to "top10"; nothing of another.
std::optional<int> top_of(const std::string& metric);

class Scores {
 public:
  Scores() : Scores(0) {}
  // 0 classes where targets are numbers, of so many columns each of which counts the same in r2.
  // Of many classes (a vocabulary) no matrix is kept.
  explicit Scores(std::int64_t classes, std::int64_t columns = 1);
  static constexpr std::int64_t kMatrixClassesMax = 1000;

  void add_loss(double sum, std::int64_t terms);
  void add_answers(std::int64_t right, std::int64_t all);
  // Samples that could not be read, and count for nothing else.
  void add_skipped(std::int64_t count) { skipped_ += static_cast<double>(count); }
  // An answer that is none of the classes is wrong, and in no column of the matrix.
  // REQUIRES: 0 <= truth < classes, where a matrix is kept.
  void add_answer(std::int64_t truth, std::int64_t answer);
  // How sure an answer was, 0 to 1, and whether it was right.
  void add_confidence(double confidence, bool is_right);
  // Answers of which the truth is among the k likeliest. REQUIRES: 1 <= k <= kTopMax.
  void add_top(int k, std::int64_t right);
  // A number that was to be predicted, and the prediction. REQUIRES: 0 <= column < columns.
  void add_number(double truth, double answer, std::int64_t column = 0);
  // Not a count: what a Ranking of all ranks' answers gave.
  void set_roc_auc(double area) { roc_auc_ = area; }

  std::int64_t skipped() const noexcept { return static_cast<std::int64_t>(skipped_); }
  // Whether anything was scored at all.
  bool has_terms() const noexcept { return terms_ > 0; }
  double loss() const noexcept;
  double accuracy() const noexcept;
  double perplexity() const noexcept;
  double top(int k) const;
  // The mean recall of classes that occur: what accuracy would be if all were as frequent.
  double balanced_accuracy() const;
  // How far confidence is from accuracy, in 15 bins of equal width (Guo et al. 2017).
  double calibration_error() const noexcept;
  double mean_absolute_error() const noexcept;
  // The share of the variance that is explained: the mean over columns, without those that have no
  // variance to explain; 0 where none has.
  double r2() const noexcept;
  std::optional<double> roc_auc() const noexcept { return roc_auc_; }
  // The mean over classes that occur, each counting the same.
  double f1() const noexcept;
  std::vector<ClassScore> classes() const;
  // Row: what it is; column: what it was taken for. Empty where none is kept.
  const std::vector<std::int64_t>& matrix() const noexcept { return matrix_; }
  std::int64_t class_count() const noexcept { return classes_; }
  std::int64_t answers() const noexcept { return answers_; }
  bool has_numbers() const noexcept { return numbers_.front().truth.count > 0; }

  // Where several things are asked of each sample: what each of them counts by itself.
  void add_task(const std::string& name, Scores scores);
  Scores& task(std::size_t index) { return tasks_[index]; }
  // "class_accuracy", "mean_mae" and so on, for people.
  std::vector<std::pair<std::string, double>> task_figures() const;

  // By the names of the metrics. REQUIRES: there is one of that name.
  double value_of(const std::string& metric) const;

  // All counts in a row, to be added to those of other ranks and put back.
  std::vector<double> counts() const;
  void set_counts(const std::vector<double>& counts);
  // Moments of numbers cannot be added: those of all ranks, one rank's after the other's, are
  // merged in this order.
  std::vector<double> moments() const;
  void set_moments(const std::vector<double>& of_ranks);

 private:
  static constexpr std::size_t kBins = 15;

  struct Bin {
    double count = 0;
    double confidence = 0;
    double right = 0;
  };
  struct Numbers {
    Moments truth{};
    double absolute = 0;  // errors
    double errors = 0;    // squared
  };

  // Everything that is a plain sum, for counts() and set_counts().
  std::vector<double*> sums();
  // Of this and of all tasks.
  std::vector<Moments*> all_moments();

  std::int64_t classes_ = 0;
  double loss_ = 0;
  std::int64_t terms_ = 0;
  std::int64_t right_ = 0;
  std::int64_t answers_ = 0;
  double skipped_ = 0;
  std::vector<std::int64_t> matrix_;
  std::vector<std::int64_t> strange_;   // by what it is: taken for none of the classes
  std::array<double, kTopMax> tops_{};  // at k - 1
  std::array<Bin, kBins> bins_{};
  std::vector<Numbers> numbers_;  // by column
  std::optional<double> roc_auc_;
  std::vector<std::string> task_names_;
  std::vector<Scores> tasks_;
};

}  // namespace trireme::train
