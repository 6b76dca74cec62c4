// Goal:   a record is unchanged after it was passed between processes, and its line shows the
//         important figures.
// Method: records written and read back, and lines that are not records.

#include "bench/train/record.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace trireme::bench::train {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

TrainRecord sample() {
  TrainRecord record;
  record.who = "trireme";
  record.model = "gpt-nano";
  record.ranks = 2;
  record.threads = 3;
  record.precision = "bf16";
  record.sync = "shared";
  record.is_apart = true;
  record.is_elastic = true;
  record.units_per_second = 1234.5;
  record.unit = "tokens";
  record.seconds_per_step = 0.25;
  record.cpu_seconds_per_step = 0.375;
  record.steps = 17;
  record.peak_bytes = std::int64_t{5} << 30;
  record.pss_bytes = 200 << 20;
  record.parts = {.data = 0.01, .forward = 0.09, .backward = 0.1, .wait = 0.02, .update = 0.03};
  record.communication_seconds = 0.04;
  record.wire_bytes_per_step = 2.5e6;
  record.is_verified = true;
  return record;
}

TEST(TrainRecord, IsReadBackFromJsonUnchanged) {
  const auto back = read_record(to_json(sample()));
  ASSERT_TRUE(back);
  EXPECT_EQ(to_json(*back), to_json(sample()));
  EXPECT_EQ(back->peak_bytes, std::int64_t{5} << 30);
  EXPECT_EQ(back->parts.wait, 0.02);
  EXPECT_EQ(back->wire_bytes_per_step, 2.5e6);
  EXPECT_THAT(table_line(*back), HasSubstr("2.5 MB a step on the wire"));
  EXPECT_EQ(back->cpu_seconds_per_step, 0.375);
  EXPECT_TRUE(back->is_apart);
  EXPECT_TRUE(back->is_elastic);
}

TEST(TrainRecord, ARecordOfAPeerHasNoParts) {
  TrainRecord record = sample();
  record.parts = {};
  EXPECT_THAT(to_json(record), Not(HasSubstr("parts")));
  const auto back = read_record(to_json(record));
  ASSERT_TRUE(back);
  EXPECT_EQ(back->parts.total(), 0);
}

TEST(TrainRecord, CommunicationWithoutAWaitIsHidden) {
  TrainRecord record = sample();
  EXPECT_DOUBLE_EQ(hidden_share(record), 0.5);
  record.parts.wait = 0.1;
  EXPECT_EQ(hidden_share(record), 0);
  record.parts.wait = 0;
  EXPECT_EQ(hidden_share(record), 1);
  record.communication_seconds = 0;
  EXPECT_EQ(hidden_share(record), 1);
}

TEST(TrainRecord, OtherLinesAreNotRecords) {
  for (const char* line :
       {"", "warming up", "{\"model\":", "{\"model\": 3}", "{\"op\":\"send\"}"}) {
    EXPECT_FALSE(read_record(line)) << line;
  }
}

TEST(TrainRecord, ItsLineShowsTheShareOfEachPart) {
  EXPECT_THAT(table_line(sample()), HasSubstr("4.0 36.0 40.0 8.0 12.0 %"));
  EXPECT_THAT(table_line(sample()), HasSubstr("5120 MiB"));
  EXPECT_THAT(table_line(sample()), Not(HasSubstr("WRONG")));
  EXPECT_THAT(table_line(sample()), HasSubstr("50 % of 40.00 ms exchange hidden"));
  TrainRecord wrong = sample();
  wrong.is_verified = false;
  EXPECT_THAT(table_line(wrong), HasSubstr("WRONG"));
  EXPECT_THAT(table_head(), HasSubstr("units/s"));
}

}  // namespace
}  // namespace trireme::bench::train
