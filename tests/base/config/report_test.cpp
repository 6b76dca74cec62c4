// Goal:   a report lists mistakes in the order of their places, and limits their number.
// Method: compare complete texts.

#include "trireme/base/config/report.h"

#include <gtest/gtest.h>

#include "trireme/base/error.h"

namespace trireme::config {
namespace {

TEST(ConfigReport, WithoutMistakesThrowsNothing) {
  Report report;
  EXPECT_TRUE(report.is_empty());
  EXPECT_NO_THROW(report.throw_if_any());
}

TEST(ConfigReport, ListsMistakesInTheOrderOfTheirPlaces) {
  Report report;
  report.add({.place = {.source = 1, .name = "override x"}, .key = "x", .what = "third"});
  report.add({.place = {.source = 0, .name = "job.toml", .line = 9}, .key = "b", .what = "second"});
  report.add({.place = {.source = 0, .name = "job.toml", .line = 2}, .key = "", .what = "first"});
  EXPECT_EQ(report.to_text(),
            "3 mistakes in the configuration:\n"
            "  job.toml:2: first\n"
            "  job.toml:9: b: second\n"
            "  override x: x: third");
  try {
    report.throw_if_any();
    FAIL() << "nothing was thrown";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::InvalidInput);
    EXPECT_EQ(error.message(), report.to_text());
  }
}

TEST(ConfigReport, UsesTheSingularForOneMistake) {
  Report report;
  report.add({.place = {.name = "f"}, .key = "k", .what = "w"});
  EXPECT_EQ(report.to_text(), "1 mistake in the configuration:\n  f: k: w");
}

TEST(ConfigReport, KeepsTheFirstHundredAndCountsTheRest) {
  Report report;
  for (int i = 0; i < 1000; ++i) report.add({.place = {.name = "f"}, .key = "k", .what = "w"});
  EXPECT_TRUE(report.is_full());
  EXPECT_EQ(report.mistakes().size(), Report::kKept);
  EXPECT_TRUE(report.to_text().starts_with("1000 mistakes"));
  EXPECT_TRUE(report.to_text().ends_with("\n  and 900 more"));
}

}  // namespace
}  // namespace trireme::config
