#include "trireme/train/scores.h"

#include <cmath>

#include "trireme/base/check.h"

namespace trireme::train {
namespace {

double ratio(double part, double whole) {
  return whole == 0 ? 0 : part / whole;
}

}  // namespace

Scores::Scores(std::int64_t classes) : classes_(classes) {
  if (classes > kMatrixClassesMax) return;
  matrix_.assign(static_cast<std::size_t>(classes * classes), 0);
  strange_.assign(static_cast<std::size_t>(classes), 0);
}

void Scores::add_loss(double sum, std::int64_t terms) {
  loss_ += sum;
  terms_ += terms;
}

void Scores::add_answers(std::int64_t right, std::int64_t all) {
  right_ += right;
  answers_ += all;
}

void Scores::add_answer(std::int64_t truth, std::int64_t answer) {
  add_answers(truth == answer ? 1 : 0, 1);
  if (matrix_.empty()) return;
  TRIREME_CHECK(truth >= 0 && truth < classes_, "class ", truth, " of ", classes_);
  // A model may have more outputs than the data have classes, and take a sample for one of those.
  if (answer < 0 || answer >= classes_) {
    ++strange_[static_cast<std::size_t>(truth)];
  } else {
    ++matrix_[static_cast<std::size_t>(truth * classes_ + answer)];
  }
}

double Scores::loss() const noexcept {
  return ratio(loss_, static_cast<double>(terms_));
}

double Scores::accuracy() const noexcept {
  return ratio(static_cast<double>(right_), static_cast<double>(answers_));
}

double Scores::perplexity() const noexcept {
  return std::exp(loss());
}

std::vector<ClassScore> Scores::classes() const {
  std::vector<ClassScore> all;
  if (matrix_.empty()) return all;
  for (std::int64_t c = 0; c < classes_; ++c) {
    std::int64_t truth = strange_[static_cast<std::size_t>(c)];
    std::int64_t taken = 0;
    for (std::int64_t other = 0; other < classes_; ++other) {
      truth += matrix_[static_cast<std::size_t>(c * classes_ + other)];
      taken += matrix_[static_cast<std::size_t>(other * classes_ + c)];
    }
    const auto right = static_cast<double>(matrix_[static_cast<std::size_t>(c * classes_ + c)]);
    ClassScore score{.precision = ratio(right, static_cast<double>(taken)),
                     .recall = ratio(right, static_cast<double>(truth)),
                     .count = truth};
    score.f1 = ratio(2 * score.precision * score.recall, score.precision + score.recall);
    all.push_back(score);
  }
  return all;
}

double Scores::f1() const noexcept {
  double sum = 0;
  int occurring = 0;
  for (const ClassScore& score : classes()) {
    if (score.count == 0) continue;
    sum += score.f1;
    ++occurring;
  }
  return ratio(sum, occurring);
}

double Scores::value_of(const std::string& metric) const {
  if (metric == "loss") return loss();
  if (metric == "accuracy") return accuracy();
  if (metric == "perplexity") return perplexity();
  TRIREME_CHECK(metric == "f1", "there is no metric ", metric);
  return f1();
}

// Counts stay exact as doubles up to 2^53.
std::vector<double> Scores::counts() const {
  std::vector<double> all{loss_, static_cast<double>(terms_), static_cast<double>(right_),
                          static_cast<double>(answers_)};
  for (std::int64_t count : matrix_) all.push_back(static_cast<double>(count));
  for (std::int64_t count : strange_) all.push_back(static_cast<double>(count));
  return all;
}

void Scores::set_counts(const std::vector<double>& counts) {
  TRIREME_CHECK_EQ(counts.size(), matrix_.size() + strange_.size() + 4, "counts of an evaluation");
  loss_ = counts[0];
  terms_ = static_cast<std::int64_t>(counts[1]);
  right_ = static_cast<std::int64_t>(counts[2]);
  answers_ = static_cast<std::int64_t>(counts[3]);
  for (std::size_t i = 0; i < matrix_.size(); ++i) {
    matrix_[i] = static_cast<std::int64_t>(counts[i + 4]);
  }
  for (std::size_t i = 0; i < strange_.size(); ++i) {
    strange_[i] = static_cast<std::int64_t>(counts[i + 4 + matrix_.size()]);
  }
}

}  // namespace trireme::train
