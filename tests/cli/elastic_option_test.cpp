// Goal:   the options of elastic jobs change only the given values, and must be consistent with -n.
// Method: handmade options.

#include "trireme/cli/elastic_option.h"

#include <gtest/gtest.h>

#include "trireme/base/error.h"

namespace trireme::cli {
namespace {

using namespace std::chrono_literals;

cluster::launch::JobSpec applied(const ElasticWords& words, int ranks) {
  cluster::launch::JobSpec spec;
  spec.ranks = ranks;
  words.apply(spec);
  return spec;
}

TEST(ElasticOption, ChangesOnlyTheGivenValues) {
  EXPECT_FALSE(applied({}, 4).elastic);
  const auto plain = applied({.is_on = true}, 4).elastic;
  ASSERT_TRUE(plain);
  EXPECT_EQ(plain->least, 1);
  EXPECT_EQ(plain->most, 128);
  const auto said =
      applied({.is_on = true, .least = 2, .most = 4, .restarts = 7, .orphan_timeout = 1.5}, 4);
  EXPECT_EQ(said.elastic->least, 2);
  EXPECT_EQ(said.elastic->most, 4);
  EXPECT_EQ(said.elastic->restarts_max, 7);
  EXPECT_EQ(said.elastic->orphan_timeout, 1500ms);
}

TEST(ElasticOption, RefusesLimitsThatContradictTheNumberOfRanks) {
  EXPECT_THROW(applied({.is_on = true, .least = 5}, 4), Error);
  EXPECT_THROW(applied({.is_on = true, .most = 3}, 4), Error);
  EXPECT_THROW(applied({.is_on = true}, 129), Error);
  EXPECT_THROW(applied({.least = 1}, 4), Error) << "not elastic";
}

}  // namespace
}  // namespace trireme::cli
