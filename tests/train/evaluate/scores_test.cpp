// Goal:   the figures of an evaluation are those that the counts say, and counts of ranks add up.
// Method: a small confusion matrix worked out by hand.

#include "trireme/train/evaluate/scores.h"
#include "trireme/train/evaluate/number_errors.h"

#include <gtest/gtest.h>

#include <cmath>

namespace trireme::train {
namespace {

// Three classes, the last of which never occurs and is once answered.
Scores by_hand() {
  Scores scores(3);
  scores.add_answer(0, 0);
  scores.add_answer(0, 0);
  scores.add_answer(0, 1);
  scores.add_answer(1, 1);
  scores.add_answer(1, 2);
  scores.add_loss(6, 4);
  scores.add_loss(1.5, 1);
  return scores;
}

TEST(Scores, AreWhatTheCountsSay) {
  const Scores scores = by_hand();
  EXPECT_DOUBLE_EQ(scores.loss(), 1.5);
  EXPECT_DOUBLE_EQ(scores.perplexity(), std::exp(1.5));
  EXPECT_DOUBLE_EQ(scores.accuracy(), 0.6);
  EXPECT_EQ(scores.answers(), 5);
  EXPECT_EQ(scores.matrix(), (std::vector<std::int64_t>{2, 1, 0, 0, 1, 1, 0, 0, 0}));
  const auto classes = scores.classes();
  ASSERT_EQ(classes.size(), 3U);
  EXPECT_DOUBLE_EQ(classes[0].precision, 1);
  EXPECT_DOUBLE_EQ(classes[0].recall, 2.0 / 3);
  EXPECT_DOUBLE_EQ(classes[0].f1, 0.8);
  EXPECT_EQ(classes[0].count, 3);
  EXPECT_DOUBLE_EQ(classes[1].precision, 0.5);
  EXPECT_DOUBLE_EQ(classes[1].recall, 0.5);
  EXPECT_DOUBLE_EQ(classes[1].f1, 0.5);
  EXPECT_DOUBLE_EQ(classes[2].f1, 0);
  EXPECT_EQ(classes[2].count, 0);
  // A class that never occurs does not count.
  EXPECT_DOUBLE_EQ(scores.f1(), 0.65);
  EXPECT_DOUBLE_EQ(scores.value_of("loss"), scores.loss());
  EXPECT_DOUBLE_EQ(scores.value_of("accuracy"), scores.accuracy());
  EXPECT_DOUBLE_EQ(scores.value_of("perplexity"), scores.perplexity());
  EXPECT_DOUBLE_EQ(scores.value_of("f1"), scores.f1());
}

TEST(Scores, AnAnswerThatIsNoClassIsWrongAndInNoColumn) {
  Scores scores(3);
  scores.add_answer(0, 0);
  scores.add_answer(0, 5);
  scores.add_answer(2, 1000000007);
  scores.add_answer(1, -1);
  EXPECT_EQ(scores.matrix(), (std::vector<std::int64_t>{1, 0, 0, 0, 0, 0, 0, 0, 0}));
  EXPECT_DOUBLE_EQ(scores.accuracy(), 0.25);
  const auto classes = scores.classes();
  EXPECT_EQ(classes[0].count, 2);
  EXPECT_DOUBLE_EQ(classes[0].recall, 0.5);
  EXPECT_DOUBLE_EQ(classes[0].precision, 1);
  EXPECT_EQ(classes[2].count, 1);
  Scores other(3);
  other.set_counts(scores.counts());
  EXPECT_EQ(other.classes()[2].count, 1);
  EXPECT_ANY_THROW(scores.add_answer(3, 0));
  EXPECT_ANY_THROW(scores.add_answer(-1, 0));
}

TEST(Scores, CountsOfRanksAddUp) {
  Scores first(3);
  first.add_answer(0, 0);
  first.add_answer(1, 2);
  first.add_loss(6, 4);
  Scores second(3);
  second.add_answer(0, 0);
  second.add_answer(0, 1);
  second.add_answer(1, 1);
  second.add_loss(1.5, 1);
  std::vector<double> sum = first.counts();
  const std::vector<double> more = second.counts();
  for (std::size_t i = 0; i < sum.size(); ++i) sum[i] += more[i];
  first.set_counts(sum);
  EXPECT_EQ(first.counts(), by_hand().counts());
  EXPECT_DOUBLE_EQ(first.f1(), 0.65);
  EXPECT_ANY_THROW(first.set_counts({1, 2, 3, 4}));
}

// The reference is a two-pass sum in float64 of the deviations from the mean.
TEST(Scores, R2OfALargeMeanAndASmallVarianceIsExactForAnyRanks) {
  constexpr int kCount = 1000;
  constexpr double kMean = 1e9;
  const auto truth_of = [](int i) { return kMean + 1e-3 * ((i * 37) % 101); };
  const auto answer_of = [&](int i) { return truth_of(i) + (i % 2 == 0 ? 1e-2 : -1e-2); };
  double left = 0, mean = 0, around = 0;
  for (int i = 0; i < kCount; ++i) mean += (truth_of(i) - kMean) / kCount;
  for (int i = 0; i < kCount; ++i) {
    const double off = truth_of(i) - kMean - mean;
    around += off * off;
    left += std::pow(truth_of(i) - answer_of(i), 2);
  }
  for (const int ranks : {1, 3, 8}) {
    std::vector<double> counts, moments;
    for (int rank = 0; rank < ranks; ++rank) {
      Scores part(0);
      for (int i = rank; i < kCount; i += ranks) part.numbers().add(truth_of(i), answer_of(i));
      const std::vector<double> more = part.counts();
      counts.resize(more.size());
      for (std::size_t i = 0; i < more.size(); ++i) counts[i] += more[i];
      const std::vector<double> own = part.moments();
      moments.insert(moments.end(), own.begin(), own.end());
    }
    Scores all(0);
    all.set_counts(counts);
    all.set_moments(moments);
    EXPECT_NEAR(all.numbers().r2(), 1 - left / around, 1e-6) << ranks;
    EXPECT_NEAR(all.numbers().mean_absolute(), 1e-2, 1e-8);
  }
}

TEST(Scores, R2OfSeveralTargetsIsTheMeanOfEach) {
  Scores scores(0, 3);
  for (int i = 0; i < 4; ++i) {
    scores.numbers().add(i, i, 0);            // exact: 1
    scores.numbers().add(1e6 * i, 1.5e6, 1);  // the mean: 0
    scores.numbers().add(7, 8, 2);            // nothing to explain: does not count
  }
  EXPECT_NEAR(scores.numbers().r2(), 0.5, 1e-12);
  EXPECT_ANY_THROW(scores.numbers().add(0, 0, 3));
  EXPECT_ANY_THROW(scores.set_moments({1, 2, 3}));
}

TEST(Scores, NothingAndNumbersHaveNoClasses) {
  const Scores nothing;
  EXPECT_DOUBLE_EQ(nothing.loss(), 0);
  EXPECT_DOUBLE_EQ(nothing.accuracy(), 0);
  EXPECT_DOUBLE_EQ(nothing.f1(), 0);
  EXPECT_TRUE(nothing.classes().empty());
  EXPECT_TRUE(nothing.matrix().empty());
  EXPECT_EQ(nothing.counts().size() + 3 * 3 + 3, Scores(3).counts().size());
}

TEST(Scores, AVocabularyKeepsNoMatrix) {
  Scores scores(Scores::kMatrixClassesMax + 1);
  scores.add_answer(1000, 1000);
  scores.add_answers(2, 3);
  EXPECT_TRUE(scores.matrix().empty());
  EXPECT_DOUBLE_EQ(scores.accuracy(), 0.75);
  EXPECT_FALSE(Scores(Scores::kMatrixClassesMax).matrix().empty());
}

}  // namespace
}  // namespace trireme::train
