// Goal:   areas under curves, top five, calibration and errors of numbers are what others compute.
// Method: small cases against the definitions written out pair by pair; figures of scikit-learn
//         1.9.1's functions for one of them.

#include "trireme/train/evaluate/ranking.h"

#include <gtest/gtest.h>

#include <limits>

#include "trireme/base/error.h"
#include "trireme/base/random.h"
#include "trireme/train/evaluate/scores.h"
#include "trireme/train/recipe/config.h"

namespace trireme::train {
namespace {

TEST(AreaUnderTheCurve, CountsPairs) {
  Random random(5);
  for (const std::size_t count : {2, 3, 31, 200}) {
    std::vector<float> scores;
    std::vector<std::uint8_t> is_positive{1, 0};
    for (std::size_t i = 0; i < count; ++i) {
      scores.push_back(static_cast<float>(random.below(10)));  // so that some tie
      if (i > 1) is_positive.push_back(static_cast<std::uint8_t>(random.below(2)));
    }
    double won = 0, pairs = 0;
    for (std::size_t a = 0; a < count; ++a) {
      for (std::size_t b = 0; b < count; ++b) {
        if (is_positive[a] == 0 || is_positive[b] != 0) continue;
        won += scores[a] > scores[b] ? 1 : scores[a] == scores[b] ? 0.5 : 0;
        pairs += 1;
      }
    }
    EXPECT_NEAR(area_under_curve(scores, is_positive), won / pairs, 1e-12) << count;
  }
  EXPECT_EQ(area_under_curve({}, {}), 0);
  const std::vector<float> none(3, std::numeric_limits<float>::quiet_NaN());
  EXPECT_EQ(area_under_curve(none, std::vector<std::uint8_t>{1, 0, 0}), 0.5);
}

TEST(AreaUnderTheCurve, OfSeveralClassesIsTheirMean) {
  // sklearn.metrics.roc_auc_score(y, p, multi_class="ovr") of the same.
  const std::vector<std::vector<float>> p{{0.5F, 0.3F, 0.2F},
                                          {0.2F, 0.5F, 0.3F},
                                          {0.4F, 0.4F, 0.2F},
                                          {0.1F, 0.3F, 0.6F},
                                          {0.3F, 0.2F, 0.5F}};
  const std::vector<std::int64_t> y{0, 1, 1, 2, 0};
  Ranking half(5, 3), other(5, 3);
  for (std::size_t i = 0; i < 5; ++i) {
    (i % 2 == 0 ? half : other).set(static_cast<std::int64_t>(i), y[i], p[i]);
  }
  for (std::size_t i = 0; i < half.table().size(); ++i) half.table()[i] += other.table()[i];
  EXPECT_NEAR(half.roc_auc(), 0.9444444444444445, 1e-9);
}

TEST(ScoresOfNumbers, AreErrorsAndVarianceExplained) {
  Scores scores;
  const double truth[] = {3, -0.5, 2, 7}, answer[] = {2.5, 0, 2, 8};  // scikit-learn's own example
  for (int i = 0; i < 4; ++i) scores.numbers().add(truth[i], answer[i]);
  EXPECT_DOUBLE_EQ(scores.value_of("mae"), 0.5);
  EXPECT_NEAR(scores.value_of("r2"), 0.9486081370449679, 1e-12);
  EXPECT_EQ(Scores().value_of("r2"), 0);
}

TEST(ScoresOfClasses, AreBalancedCalibratedAndAmongFive) {
  Scores scores(10);
  for (int i = 0; i < 8; ++i) scores.add_answer(0, 0);
  scores.add_answer(1, 0);
  scores.add_answer(1, 1);
  EXPECT_DOUBLE_EQ(scores.value_of("balanced_accuracy"), 0.75);
  scores.add_top(5, 9);
  scores.add_top(2, 3);
  EXPECT_DOUBLE_EQ(scores.value_of("top5"), 0.9);
  EXPECT_DOUBLE_EQ(scores.value_of("top2"), 0.3);
  EXPECT_THROW(scores.add_top(11, 1), Error);
  EXPECT_THROW(scores.value_of("top11"), Error);
  // Two bins: 0.9 sure and right half the time, 0.1 sure and never right.
  scores.add_confidence(0.9, true);
  scores.add_confidence(0.9, false);
  scores.add_confidence(0.1, false);
  scores.add_confidence(0.1, false);
  EXPECT_NEAR(scores.value_of("calibration_error"), (0.4 + 0.1) / 2, 1e-12);
  Scores lost(10);
  lost.add_confidence(std::numeric_limits<double>::quiet_NaN(), false);
  EXPECT_EQ(lost.value_of("calibration_error"), 0);
  Scores copy(10);
  copy.set_counts(scores.counts());
  for (const char* metric : {"balanced_accuracy", "top5", "calibration_error"}) {
    EXPECT_EQ(copy.value_of(metric), scores.value_of(metric));
  }
  EXPECT_TRUE(is_larger_better("r2") && is_larger_better("roc_auc"));
  EXPECT_FALSE(is_larger_better("mae") || is_larger_better("calibration_error"));
}

}  // namespace
}  // namespace trireme::train
