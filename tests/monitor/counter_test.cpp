// Goal:   counters and gauges lose no update when many threads write.
// Method: threads that add concurrently.

#include "trireme/monitor/counter.h"

#include <gtest/gtest.h>

#include <thread>
#include <vector>

namespace trireme::monitor {
namespace {

TEST(Counter, AddsFromManyThreads) {
  Counter counter;
  Gauge gauge;
  EXPECT_EQ(counter.value(), 0u);
  EXPECT_EQ(gauge.value(), 0);
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&] {
      for (int n = 0; n < 10'000; ++n) {
        counter.add();
        counter.add(2);
        gauge.add(1);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(counter.value(), 120'000u);
  EXPECT_EQ(gauge.value(), 40'000);
  gauge.set(-2.5);
  EXPECT_EQ(gauge.value(), -2.5);
}

}  // namespace
}  // namespace trireme::monitor
