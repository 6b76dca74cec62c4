// Goal:   a record is unchanged after it was passed between processes, its figures follow from it,
//         and incorrect training is reported.
// Method: records written and read back, and changed in one field.

#include "bench/gpu/record.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

namespace trireme::bench::gpu {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

GpuRecord sample() {
  return {.what = {.batch = 4, .context = 1000},
          .who = "trireme",
          .precision = "autocast",
          .seconds_per_step = 0.5,
          .busy_seconds_per_step = 0.45,
          .bound_flops_per_second = 8e14,
          .steps = 17,
          .peak_bytes = std::int64_t{3} << 30,
          .first_loss = 10.98,
          .last_loss = 9.5};
}

TEST(GpuRecord, IsReadBackFromJsonUnchanged) {
  const GpuRecord record = sample();
  const auto back = read_record(to_json(record), record.what);
  ASSERT_TRUE(back);
  EXPECT_EQ(to_json(*back), to_json(record));
  EXPECT_EQ(back->peak_bytes, record.peak_bytes);
  EXPECT_EQ(back->busy_seconds_per_step, 0.45);
}

TEST(GpuRecord, OtherLinesAreNotRecords) {
  for (const char* line : {"", "compiling", "{\"by\":", "{\"by\": 3}", "[1]"}) {
    EXPECT_FALSE(read_record(line, {})) << line;
  }
}

TEST(GpuRecord, ItsFiguresFollowFromTheTimeOfAStep) {
  const GpuRecord record = sample();
  EXPECT_DOUBLE_EQ(record.tokens_per_second(), 8000);
  EXPECT_DOUBLE_EQ(record.flops_per_second(), 8000 * gpt_named("124m").flops_per_token(1000));
  EXPECT_NEAR(record.idle_share(), 0.1, 1e-9);
  EXPECT_EQ(GpuRecord{.seconds_per_step = 1}.idle_share(), 0) << "unknown";
}

TEST(GpuRecord, IncorrectTrainingIsReported) {
  EXPECT_EQ(sample().mistake(), "");
  EXPECT_THAT(table_line(sample(), 8e14), Not(HasSubstr("WRONG")));
  GpuRecord other = sample();
  other.first_loss = 12;
  EXPECT_THAT(other.mistake(), HasSubstr("12.000 instead of 10.979"));
  GpuRecord rising = sample();
  rising.last_loss = 11;
  EXPECT_THAT(table_line(rising, 0), HasSubstr("WRONG: the loss went from 10.980 to 11.000"));
  GpuRecord broken = sample();
  broken.last_loss = std::nan("");
  const auto back = read_record(to_json(broken), broken.what);
  ASSERT_TRUE(back) << "JSON has no NaN";
  EXPECT_THAT(back->mistake(), HasSubstr("not finite"));
}

TEST(GpuRecord, ItsLineShowsTheShareOfTheBound) {
  GpuRecord record = sample();
  record.what = {};  // 64 x 1024 tokens
  record.seconds_per_step = 0.1;
  EXPECT_THAT(table_line(record, 8e14), HasSubstr(" 655360 "));
  EXPECT_THAT(table_line(record, 8e14), HasSubstr("65.4 %"));
  EXPECT_THAT(table_line(record, 0), HasSubstr("?"));
}

}  // namespace
}  // namespace trireme::bench::gpu
