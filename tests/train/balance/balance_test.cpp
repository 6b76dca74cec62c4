// Goal:   shares follow speed and stay a whole; a rank that stays slow is named once, with the
//         cause its figures show.
// Method: paces made up from known speeds, look after look.

#include "trireme/train/balance/balance.h"

#include <gmock/gmock.h>

#include <numeric>

#include "trireme/base/config/reader.h"
#include "trireme/base/error.h"
#include "trireme/train/balance/balance_config.h"
#include "trireme/train/balance/stragglers.h"

namespace trireme::train {
namespace {

using ::testing::DoubleNear;
using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

// What ranks of these speeds (samples a second) measure, with 1,000 samples in all.
std::vector<Pace> paces_of(const std::vector<double>& speeds, const std::vector<double>& shares) {
  std::vector<Pace> paces;
  for (std::size_t rank = 0; rank < speeds.size(); ++rank) {
    const double samples = std::round(1000 * shares[rank]);
    paces.push_back({.seconds = samples / speeds[rank] + 1e-9, .samples = samples});
  }
  return paces;
}

double sum_of(const std::vector<double>& shares) {
  return std::accumulate(shares.begin(), shares.end(), 0.0);
}

double longest(const std::vector<double>& speeds, const std::vector<double>& shares) {
  double most = 0;
  for (std::size_t i = 0; i < speeds.size(); ++i) most = std::max(most, shares[i] / speeds[i]);
  return most;
}

TEST(Balance, SharesFollowSpeed) {
  for (const BalanceKind kind : {BalanceKind::Proportional, BalanceKind::LeastLoaded}) {
    for (const std::vector<double>& speeds :
         {std::vector<double>{300, 100}, {100, 100, 50}, {1, 1, 1, 10}, {7, 7}, {5}}) {
      Balance balance({.kind = kind}, static_cast<int>(speeds.size()));
      for (int look = 0; look < 60; ++look) {
        balance.follow(paces_of(speeds, balance.shares()));
        EXPECT_NEAR(sum_of(balance.shares()), 1, 1e-12);
      }
      // As good as it can be, but for the size of one unit and what counts as noise.
      const double best = 1 / sum_of(speeds);
      EXPECT_LT(longest(speeds, balance.shares()), 1.2 * best);
    }
  }
}

// A rank that does more in every step, whatever its samples, keeps what makes all equally busy.
TEST(Balance, FixedCostsPerStepDoNotCountAsSlowness) {
  for (const BalanceKind kind : {BalanceKind::Proportional, BalanceKind::LeastLoaded}) {
    Balance balance({.kind = kind}, 2);
    for (int look = 0; look < 60; ++look) {
      std::vector<Pace> paces = paces_of({1000, 1000}, balance.shares());
      paces[1].seconds += 0.4;
      balance.follow(paces);
    }
    // 0.7 s each: 700 samples here, 300 and what else there is to do there.
    EXPECT_NEAR(balance.shares()[0], 0.7, 0.04);
  }
}

TEST(Balance, SharesOfEqualRanksDoNotChange) {
  Balance balance({.kind = BalanceKind::Proportional}, 3);
  EXPECT_FALSE(balance.follow(paces_of({100, 102, 99}, balance.shares())));
  EXPECT_THAT(balance.shares(), Each(DoubleNear(1.0 / 3, 1e-12)));
}

TEST(Balance, ARankWithoutSamplesGetsALargerShare) {
  Balance balance({.kind = BalanceKind::Proportional}, 2);
  std::vector<Pace> paces = paces_of({100, 1e-3}, balance.shares());
  for (int look = 0; look < 9; ++look) balance.follow(paces);
  const double least = balance.shares()[1];
  EXPECT_GT(least, 0);
  EXPECT_LT(least, 0.05);
  paces[1] = {.seconds = 0.1, .samples = 0};
  EXPECT_TRUE(balance.follow(paces));
  EXPECT_GT(balance.shares()[1], least);
  EXPECT_LT(balance.shares()[1], 2.1 * least) << "it may be as slow as it was";
}

TEST(Balance, AComparisonWithoutAStepChangesNothing) {
  Balance balance({.kind = BalanceKind::Proportional}, 2);
  const std::vector<Pace> none(2);
  EXPECT_FALSE(balance.follow(none));
  EXPECT_THAT(balance.shares(), ElementsAre(0.5, 0.5));
}

TEST(Balance, StaticWeightsAreSharesAndFitTheRanks) {
  const BalanceSettings config{.kind = BalanceKind::Static, .weights = {3, 1}};
  Balance balance(config, 2);
  EXPECT_THAT(balance.shares(), ElementsAre(0.75, 0.25));
  EXPECT_FALSE(balance.follow(paces_of({1, 100}, balance.shares())));
  EXPECT_THAT(Balance::mistake_in(config, 3), HasSubstr("has 2 numbers, but there are 3 replicas"));
  EXPECT_EQ(Balance::mistake_in(config, 2), "");
}

TEST(BalanceSettings, AreReadFromARecipe) {
  config::Schema schema;
  add_balance_section(schema);
  const auto read = [&](const std::vector<std::string>& words) {
    return balance_of(config::read_config(schema, {.overrides = words}));
  };
  EXPECT_EQ(read({}).kind, BalanceKind::Off);
  EXPECT_EQ(read({"balance.kind=proportional", "balance.every=7"}).every, 7);
  EXPECT_EQ(read({"balance.kind=least_loaded"}).kind, BalanceKind::LeastLoaded);
  EXPECT_THAT(read({"balance.kind=static", "balance.weights=[2, 1]"}).weights, ElementsAre(2, 1));
  EXPECT_THROW(read({"balance.kind=off", "balance.weights=[1]"}), Error);
}

TEST(Stragglers, ARankThatStaysSlowIsReportedOnce) {
  Stragglers stragglers;
  const std::vector<double> fair{0.25, 0.25, 0.25, 0.25};
  std::vector<Pace> slow = paces_of({100, 100, 40, 95}, fair);
  slow[2].process = 1234;
  slow[2].throttled = slow[2].seconds / 2;
  EXPECT_FALSE(stragglers.look(slow));
  EXPECT_FALSE(stragglers.look(slow));
  const auto named = stragglers.look(slow);
  ASSERT_TRUE(named);
  EXPECT_EQ(named->rank, 2);
  EXPECT_NEAR(named->ratio, 2.5, 0.2);
  EXPECT_EQ(named->process, 1234);
  EXPECT_THAT(named->cause, HasSubstr("quota"));
  EXPECT_FALSE(stragglers.look(slow));
  EXPECT_FALSE(stragglers.look(paces_of({100, 100, 100, 100}, fair)));
  EXPECT_FALSE(stragglers.look(slow));
  EXPECT_FALSE(stragglers.look(slow));
  EXPECT_TRUE(stragglers.look(slow)) << "it was fast in between";
}

TEST(Stragglers, TheSlowerOfTwoRanksIsAStraggler) {
  Stragglers stragglers;
  const std::vector<Pace> paces = paces_of({100, 300}, {0.5, 0.5});
  stragglers.look(paces);
  stragglers.look(paces);
  const auto named = stragglers.look(paces);
  ASSERT_TRUE(named);
  EXPECT_EQ(named->rank, 0);
}

TEST(Stragglers, TheCauseFollowsFromTheMeasurements) {
  EXPECT_THAT(cause_of({.seconds = 1, .data = 0.5}), HasSubstr("data"));
  EXPECT_THAT(cause_of({.seconds = 1, .delayed = 0.5}), HasSubstr("compete"));
  EXPECT_THAT(cause_of({.seconds = 1}), HasSubstr("slower"));
  EXPECT_THAT(cause_of({.seconds = 1, .data = 0.5, .throttled = 0.5}), HasSubstr("quota"));
}

TEST(Pace, TravelsAsNumbers) {
  const Pace pace{1, 2, 3, 4, 5, 6};
  const auto sent = pace.to_array();
  EXPECT_EQ(Pace::from_array(sent.data()).to_array(), sent);
}

}  // namespace
}  // namespace trireme::train
