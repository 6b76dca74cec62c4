// Scores are what an evaluation counts, and the figures that follow from the counts: pure
// arithmetic, so that counts of many ranks add up to those of one.
//
// Threads: a value.

#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace trireme::train {

struct ClassScore {
  double precision = 0;
  double recall = 0;
  double f1 = 0;
  std::int64_t count = 0;  // of samples that are of this class
};

class Scores {
 public:
  Scores() = default;
  // 0 classes where targets are numbers. Of many classes (a vocabulary) no matrix is kept.
  explicit Scores(std::int64_t classes);
  static constexpr std::int64_t kMatrixClassesMax = 1000;

  void add_loss(double sum, std::int64_t terms);
  void add_answers(std::int64_t right, std::int64_t all);
  // An answer that is none of the classes is wrong, and in no column of the matrix.
  // REQUIRES: 0 <= truth < classes, where a matrix is kept.
  void add_answer(std::int64_t truth, std::int64_t answer);

  double loss() const noexcept;
  double accuracy() const noexcept;
  double perplexity() const noexcept;
  // The mean over classes that occur, each counting the same.
  double f1() const noexcept;
  std::vector<ClassScore> classes() const;
  // Row: what it is; column: what it was taken for. Empty where none is kept.
  const std::vector<std::int64_t>& matrix() const noexcept { return matrix_; }
  std::int64_t class_count() const noexcept { return classes_; }
  std::int64_t answers() const noexcept { return answers_; }

  // By the names of the metrics. REQUIRES: there is one of that name.
  double value_of(const std::string& metric) const;

  // All counts in a row, to be added to those of other ranks and put back.
  std::vector<double> counts() const;
  void set_counts(const std::vector<double>& counts);

 private:
  std::int64_t classes_ = 0;
  double loss_ = 0;
  std::int64_t terms_ = 0;
  std::int64_t right_ = 0;
  std::int64_t answers_ = 0;
  std::vector<std::int64_t> matrix_;
  std::vector<std::int64_t> strange_;  // by what it is: taken for none of the classes
};

}  // namespace trireme::train
