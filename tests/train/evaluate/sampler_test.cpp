// Goal:   tokens are drawn from the distribution that temperature, top-k and top-p leave, and the
//         same seed draws the same.
// Method: frequencies of many draws against probabilities computed here; what may not be drawn
//         never is.

#include "trireme/train/evaluate/generation.h"

#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <vector>

#include "trireme/base/error.h"

namespace trireme::train {
namespace {

// Probabilities 0.4, 0.3, 0.2, 0.1, not in order.
std::vector<float> logits() {
  return {std::log(0.2F), std::log(0.4F), std::log(0.1F), std::log(0.3F)};
}

std::map<std::int64_t, double> frequencies(const SamplerOptions& options, int draws = 20000) {
  Sampler sampler(options);
  const std::vector<float> all = logits();
  std::map<std::int64_t, double> found;
  for (int i = 0; i < draws; ++i) found[sampler.draw(all)] += 1.0 / draws;
  return found;
}

TEST(Sampler, DrawsByProbability) {
  const auto found = frequencies({});
  EXPECT_NEAR(found.at(0), 0.2, 0.02);
  EXPECT_NEAR(found.at(1), 0.4, 0.02);
  EXPECT_NEAR(found.at(2), 0.1, 0.02);
  EXPECT_NEAR(found.at(3), 0.3, 0.02);
}

TEST(Sampler, TemperatureSharpensAndZeroTakesTheLikeliest) {
  // At 0.5 probabilities go with their squares: 16, 9, 4, 1 of 30.
  const auto found = frequencies({.temperature = 0.5});
  EXPECT_NEAR(found.at(1), 16.0 / 30, 0.02);
  EXPECT_NEAR(found.at(2), 1.0 / 30, 0.02);
  EXPECT_EQ(frequencies({.temperature = 0}, 50).begin()->first, 1);
  EXPECT_EQ(frequencies({.temperature = 0}, 50).size(), 1U);
}

TEST(Sampler, TopKKeepsTheLikeliestOnly) {
  const auto found = frequencies({.top_k = 2});
  ASSERT_EQ(found.size(), 2U);
  EXPECT_NEAR(found.at(1), 4.0 / 7, 0.02);
  EXPECT_NEAR(found.at(3), 3.0 / 7, 0.02);
  EXPECT_EQ(frequencies({.top_k = 1}, 50).size(), 1U);
  EXPECT_EQ(frequencies({.top_k = 100}).size(), 4U);
}

TEST(Sampler, TopPKeepsTheFewestThatReachIt) {
  EXPECT_EQ(frequencies({.top_p = 0.0}, 50).size(), 1U);
  EXPECT_EQ(frequencies({.top_p = 0.39}, 50).size(), 1U);
  EXPECT_EQ(frequencies({.top_p = 0.65}).size(), 2U);
  EXPECT_EQ(frequencies({.top_p = 0.75}).size(), 3U);
  // Of what top-k left: 4/7 and 3/7.
  EXPECT_EQ(frequencies({.top_k = 2, .top_p = 0.5}, 50).size(), 1U);
}

TEST(Sampler, TheSameSeedDrawsTheSame) {
  const auto draws = [](std::uint64_t seed) {
    Sampler sampler({.seed = seed});
    const std::vector<float> all = logits();
    std::vector<std::int64_t> tokens;
    for (int i = 0; i < 50; ++i) tokens.push_back(sampler.draw(all));
    return tokens;
  };
  EXPECT_EQ(draws(3), draws(3));
  EXPECT_NE(draws(3), draws(4));
}

TEST(Sampler, TakesWhatThereIs) {
  Sampler sampler({});
  const std::vector<float> one{-3.0F};
  EXPECT_EQ(sampler.draw(one), 0);
  EXPECT_ANY_THROW(sampler.draw({}));
  // A token that is forbidden is never drawn, and of equals at temperature 0 the first is.
  const std::vector<float> forbidden{-INFINITY, 1.0F, 1.0F};
  for (int i = 0; i < 100; ++i) EXPECT_NE(sampler.draw(forbidden), 0);
  EXPECT_EQ(Sampler({.temperature = 0}).draw(forbidden), 1);
}

TEST(Sampler, RefusesWhatIsNoNumber) {
  for (const double temperature : {0.0, 1.0}) {
    Sampler sampler({.temperature = temperature});
    for (const std::vector<float>& broken :
         {std::vector<float>{1.0F, NAN}, {NAN, 1.0F, 2.0F}, {INFINITY, 1.0F}, {-INFINITY}}) {
      EXPECT_THROW(sampler.draw(broken), Error) << broken.size();
    }
  }
  EXPECT_ANY_THROW(Sampler({.temperature = -1}));
  EXPECT_ANY_THROW(Sampler({.temperature = NAN}));
  EXPECT_ANY_THROW(Sampler({.top_k = -1}));
  EXPECT_ANY_THROW(Sampler({.top_p = NAN}));
  EXPECT_ANY_THROW(Sampler({.top_p = 1.5}));
}

}  // namespace
}  // namespace trireme::train
