// Goal:   a flood of events causes one line per second, and the next line reports how many were
//         left out.
// Method: a clock that the test advances and a sink that records.

#include "trireme/net/log_throttle.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

namespace trireme::net {
namespace {

using namespace std::chrono_literals;

class HandClock final : public Clock {
 public:
  TimePoint now() const override { return now_; }
  void advance(Duration by) { now_ += by; }

 private:
  TimePoint now_{};
};

class RememberingSink final : public LogSink {
 public:
  void write(LogLevel, std::string_view event, const Record& record) noexcept override {
    lines.push_back(std::string(event) + " " + record.to_text());
  }
  std::vector<std::string> lines;
};

TEST(LogThrottle, ReportsHowManyEventsWereLeftOut) {
  HandClock clock;
  const auto sink = std::make_shared<RememberingSink>();
  LogThrottle log(Log(sink, LogLevel::Debug), clock);
  for (int i = 0; i < 1000; ++i) log.warn("stranger", {{"number", i}});
  ASSERT_EQ(sink->lines.size(), 1u);
  EXPECT_EQ(sink->lines[0], "stranger number=0");
  clock.advance(999ms);
  log.warn("stranger", {{"number", 1000}});
  EXPECT_EQ(sink->lines.size(), 1u);
  clock.advance(1ms);
  log.warn("stranger", {{"number", 1001}});
  ASSERT_EQ(sink->lines.size(), 2u);
  EXPECT_EQ(sink->lines[1], "stranger number=1001 left_out=1000");
  clock.advance(1s);
  log.warn("stranger", {{"number", 1002}});
  ASSERT_EQ(sink->lines.size(), 3u);
  EXPECT_EQ(sink->lines[2], "stranger number=1002");
}

}  // namespace
}  // namespace trireme::net
