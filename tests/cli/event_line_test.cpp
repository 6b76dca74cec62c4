// Goal:   every event of a job is formatted as a readable line, including unknown events.
// Method: handmade events.

#include "trireme/cli/event_line.h"

#include <gtest/gtest.h>

namespace trireme::cli {
namespace {

TEST(EventLine, ShowsTheEventAndItsFields) {
  EXPECT_EQ(event_line(R"({"from":"launcher","event":"rank started","rank":1,"pid":4711,)"
                       R"("processors":"0-3","bound":true})"),
            "rank started: rank 1, pid 4711, processors 0-3, bound true");
  EXPECT_EQ(event_line(R"({"event":"progress","step":7,"loss":0.1234567891,)"
                       R"("tokens_per_second":7800.0,"output":"/runs/a"})"),
            "progress: step 7, loss 0.123457, tokens per second 7800");
  EXPECT_EQ(event_line(R"({"event":"of a later version","what":{"a":[1,2]}})"),
            R"(of a later version: what {"a":[1,2]})");
  EXPECT_EQ(event_line(R"({"event":"failed","why":"one\ntwo"})"), "failed: why one two");
  EXPECT_EQ(event_line(R"({"event":"job ended"})"), "job ended");
  EXPECT_EQ(event_line(R"({"loss":"nan"})"), "report: loss nan");
}

TEST(EventLine, BeginsWithTheTimeOfDay) {
  const std::string line = event_line(R"({"time":1700000000.5,"event":"job ended"})");
  EXPECT_EQ(line.size(), std::string("00:00:00 job ended").size()) << line;
  EXPECT_TRUE(line.ends_with(":20 job ended")) << line;
}

TEST(EventLine, OtherLinesAreShownUnchanged) {
  EXPECT_EQ(event_line("hello"), "hello");
  EXPECT_EQ(event_line("[1]"), "[1]");
}

}  // namespace
}  // namespace trireme::cli
