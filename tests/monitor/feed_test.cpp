// Goal:   reports arrive in order; a slow or failed collector never blocks the reporter, and
//         dropped reports are counted and reported.
// Method: send functions that record, block until released, or throw.

#include "trireme/monitor/feed.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <stdexcept>
#include <vector>

namespace trireme::monitor {
namespace {

using namespace std::chrono_literals;
using ::testing::HasSubstr;

class Collector {
 public:
  Feed::Send sender() {
    return [this](std::span<const FeedLine> batch) {
      std::unique_lock lock(mutex_);
      ++batches_;
      changed_.notify_all();
      changed_.wait(lock, [this] { return is_open_; });
      for (const FeedLine& report : batch) lines_.push_back(report.json);
    };
  }
  void set_open(bool is_open) {
    const std::lock_guard lock(mutex_);
    is_open_ = is_open;
    changed_.notify_all();
  }
  bool wait_for_batch(int count) {
    std::unique_lock lock(mutex_);
    return changed_.wait_for(lock, 10s, [&] { return batches_ >= count; });
  }
  std::vector<std::string> lines() {
    const std::lock_guard lock(mutex_);
    return lines_;
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<std::string> lines_;
  int batches_ = 0;
  bool is_open_ = true;
};

TEST(Feed, SendsInOrderWithTimeAndCommonFields) {
  Collector collector;
  Feed feed({.send = collector.sender(), .always = {{"rank", 3}}});
  for (int i = 0; i < 1000; ++i) feed.report(Channel::Events, {{"n", i}});
  ASSERT_TRUE(feed.flush(Deadline::after(10s)));
  const auto lines = collector.lines();
  ASSERT_EQ(lines.size(), 1000u);
  for (int i = 0; i < 1000; ++i) {
    const std::string& line = lines[static_cast<std::size_t>(i)];
    EXPECT_TRUE(line.starts_with("{\"time\":")) << line;
    EXPECT_TRUE(line.ends_with(",\"rank\":3,\"n\":" + std::to_string(i) + "}")) << line;
  }
  EXPECT_EQ(feed.dropped(), 0u);
}

TEST(Feed, ASlowCollectorLosesTheOldestAndIsTold) {
  Collector collector;
  Feed feed({.send = collector.sender(), .queue_max = 5, .batch_max = 100});
  collector.set_open(false);
  feed.report(Channel::Events, {{"n", "first"}});
  ASSERT_TRUE(collector.wait_for_batch(1)) << "the first is on its way";
  for (int i = 0; i < 100; ++i) feed.report(Channel::Events, {{"n", i}});
  EXPECT_EQ(feed.dropped(), 95u);
  EXPECT_FALSE(feed.flush(Deadline::after(10ms)));
  collector.set_open(true);
  ASSERT_TRUE(feed.flush(Deadline::after(10s)));
  const auto lines = collector.lines();
  ASSERT_EQ(lines.size(), 7u);
  EXPECT_THAT(lines[1], HasSubstr(R"("event":"reports dropped","count":95)"));
  EXPECT_THAT(lines[2], HasSubstr("\"n\":95"));
  EXPECT_THAT(lines[6], HasSubstr("\"n\":99"));
}

TEST(Feed, ADeadCollectorEndsTheFeedAndNothingElse) {
  Feed feed({.send = [](std::span<const FeedLine>) { throw std::runtime_error("gone"); }});
  feed.report(Channel::Events, {{"n", 1}});
  EXPECT_FALSE(feed.flush(Deadline::after(10s)));
  feed.report(Channel::Events, {{"n", 2}});
  EXPECT_FALSE(feed.flush(Deadline::after(10s)));
  EXPECT_EQ(feed.dropped(), 2u);
}

TEST(Feed, AFeedWithoutRoomDropsEverything) {
  Collector collector;
  Feed feed({.send = collector.sender(), .queue_max = 0});
  feed.report(Channel::Metrics, {});
  EXPECT_EQ(feed.dropped(), 1u);
}

TEST(Feed, TheDestructorSendsWhatWaits) {
  Collector collector;
  {
    Feed feed({.send = collector.sender(), .linger = 10s});
    for (int i = 0; i < 10; ++i) feed.report(Channel::Metrics, {{"n", i}});
  }
  EXPECT_EQ(collector.lines().size(), 10u);
}

}  // namespace
}  // namespace trireme::monitor
