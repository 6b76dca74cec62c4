#include "trireme/train/evaluate/scores.h"

#include <algorithm>
#include <cmath>

#include "trireme/base/check.h"

namespace trireme::train {
namespace {

double ratio(double part, double whole) {
  return whole == 0 ? 0 : part / whole;
}

}  // namespace

std::optional<int> top_of(const std::string& metric) {
  for (int k = 2; k <= kTopMax; ++k) {
    if (metric == "top" + std::to_string(k)) return k;
  }
  return std::nullopt;
}

Scores::Scores(std::int64_t classes, std::int64_t columns) : classes_(classes), numbers_(columns) {
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
  // A model may have more outputs than the data have classes, and predict one of the others.
  if (answer < 0 || answer >= classes_) {
    ++strange_[static_cast<std::size_t>(truth)];
  } else {
    ++matrix_[static_cast<std::size_t>(truth * classes_ + answer)];
  }
}

void Scores::add_confidence(double said, bool is_right) {
  // The outputs of a diverged model are NaN, which counts as no confidence.
  const double confidence = std::isnan(said) ? 0 : std::clamp(said, 0.0, 1.0);
  const auto at = static_cast<std::size_t>(confidence * double{kBins});
  // A bin includes its upper edge: 0.2 is in the third of fifteen bins, 1 in the last.
  const bool is_edge = at > 0 && confidence * double{kBins} == static_cast<double>(at);
  Bin& bin = bins_[std::min(is_edge ? at - 1 : at, kBins - 1)];
  bin.count += 1;
  bin.confidence += confidence;
  bin.right += is_right ? 1 : 0;
}

void Scores::add_top(int k, std::int64_t right) {
  TRIREME_CHECK(k >= 1 && k <= kTopMax, "the ", k, " likeliest");
  tops_[static_cast<std::size_t>(k - 1)] += static_cast<double>(right);
}

double Scores::top(int k) const {
  TRIREME_CHECK(k >= 1 && k <= kTopMax, "the ", k, " likeliest");
  return ratio(tops_[static_cast<std::size_t>(k - 1)], static_cast<double>(answers_));
}

double Scores::mean_of_classes(double ClassScore::* member) const {
  double sum = 0;
  int occurring = 0;
  for (const ClassScore& score : classes()) {
    if (score.count == 0) continue;
    sum += score.*member;
    ++occurring;
  }
  return ratio(sum, occurring);
}

double Scores::calibration_error() const noexcept {
  double sum = 0, all = 0;
  for (const Bin& bin : bins_) {
    sum += std::abs(bin.confidence - bin.right);
    all += bin.count;
  }
  return ratio(sum, all);
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

double Scores::value_of(const std::string& metric) const {
  if (metric == "loss") return loss();
  if (metric == "accuracy") return accuracy();
  if (metric == "perplexity") return perplexity();
  if (metric == "f1") return f1();
  if (const auto k = top_of(metric)) return top(*k);
  if (metric == "balanced_accuracy") return balanced_accuracy();
  if (metric == "calibration_error") return calibration_error();
  if (metric == "mae") return numbers_.mean_absolute();
  if (metric == "r2") return numbers_.r2();
  TRIREME_CHECK(metric == "roc_auc" && roc_auc_, "there is no metric ", metric);
  return *roc_auc_;
}

void Scores::add_task(const std::string& name, Scores scores) {
  task_names_.push_back(name);
  tasks_.push_back(std::move(scores));
}

std::vector<std::pair<std::string, double>> Scores::task_figures() const {
  std::vector<std::pair<std::string, double>> all;
  for (std::size_t i = 0; i < tasks_.size(); ++i) {
    const Scores& task = tasks_[i];
    const auto add = [&](const char* what, double value) {
      all.emplace_back(task_names_[i] + "_" + what, value);
    };
    add("loss", task.loss());
    if (task.answers() > 0) add("accuracy", task.accuracy());
    if (task.numbers().is_empty()) continue;
    add("mae", task.numbers().mean_absolute());
    add("r2", task.numbers().r2());
  }
  return all;
}

template <class Self, class Visit>
void Scores::visit_sums(Self& self, const Visit& visit) {
  for (auto* sum : {&self.loss_, &self.skipped_}) visit(*sum);
  for (auto* count : {&self.terms_, &self.right_, &self.answers_}) visit(*count);
  for (auto& top : self.tops_) visit(top);
  for (auto& bin : self.bins_) {
    for (auto* sum : {&bin.count, &bin.confidence, &bin.right}) visit(*sum);
  }
  for (auto& column : self.numbers_.columns()) {
    for (auto* sum : {&column.absolute, &column.squared}) visit(*sum);
  }
  for (auto& count : self.matrix_) visit(count);
  for (auto& count : self.strange_) visit(count);
  for (auto& task : self.tasks_) visit_sums(task, visit);
}

// Counts stay exact as doubles up to 2^53.
std::vector<double> Scores::counts() const {
  std::vector<double> all;
  visit_sums(*this, [&](auto count) { all.push_back(static_cast<double>(count)); });
  return all;
}

void Scores::set_counts(const std::vector<double>& counts) {
  TRIREME_CHECK_EQ(counts.size(), this->counts().size(), "counts of an evaluation");
  auto next = counts.begin();
  visit_sums(*this, [&]<class Count>(Count& count) { count = static_cast<Count>(*next++); });
}

std::vector<Moments*> Scores::all_moments() {
  std::vector<Moments*> all;
  for (NumberErrors::Column& column : numbers_.columns()) all.push_back(&column.truth);
  for (Scores& task : tasks_) {
    const std::vector<Moments*> more = task.all_moments();
    all.insert(all.end(), more.begin(), more.end());
  }
  return all;
}

std::vector<double> Scores::moments() const {
  Scores copy = *this;
  std::vector<double> all;
  for (const Moments* one : copy.all_moments()) {
    for (const double number : {one->count, one->mean, one->squares}) all.push_back(number);
  }
  return all;
}

void Scores::set_moments(const std::vector<double>& of_ranks) {
  const std::vector<Moments*> all = all_moments();
  TRIREME_CHECK_EQ(of_ranks.size() % (3 * all.size()), 0U, "moments of an evaluation");
  for (Moments* one : all) *one = {};
  for (std::size_t i = 0; i < of_ranks.size(); i += 3) {
    all[i / 3 % all.size()]->merge(
        {.count = of_ranks[i], .mean = of_ranks[i + 1], .squares = of_ranks[i + 2]});
  }
}

}  // namespace trireme::train
