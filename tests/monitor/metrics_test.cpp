// Goal:   metrics are found by name, keep their type and are exported as one record.
// Method: names used twice, from several threads, and with the wrong type.

#include "trireme/monitor/metrics.h"

#include <gtest/gtest.h>

#include <thread>
#include <vector>

#include "trireme/base/error.h"

namespace trireme::monitor {
namespace {

TEST(Metrics, TheSameNameIsTheSameThing) {
  Metrics metrics;
  Counter& first = metrics.counter("bytes");
  for (int i = 0; i < 100; ++i) metrics.gauge("gauge " + std::to_string(i));
  EXPECT_EQ(&first, &metrics.counter("bytes"));
}

TEST(Metrics, AnotherKindIsMisuse) {
  Metrics metrics;
  metrics.counter("bytes");
  EXPECT_THROW(metrics.gauge("bytes"), Error);
  EXPECT_THROW(metrics.histogram("bytes"), Error);
}

TEST(Metrics, ShowThemselvesByName) {
  Metrics metrics;
  EXPECT_EQ(metrics.snapshot().to_json(), "{}");
  metrics.gauge("loss").set(0.5);
  metrics.counter("bytes").add(7);
  metrics.histogram("step").add(2);
  EXPECT_EQ(metrics.snapshot().to_json(),
            R"({"bytes":7,"loss":0.5,"step.count":1,"step.mean":2.0,"step.p50":2.0,)"
            R"("step.p99":2.0,"step.max":2.0})");
}

TEST(Metrics, AreFoundFromManyThreads) {
  Metrics metrics;
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&metrics] {
      for (int n = 0; n < 500; ++n) metrics.counter(std::to_string(n % 17)).add();
    });
  }
  for (std::thread& thread : threads) thread.join();
  std::uint64_t sum = 0;
  for (int n = 0; n < 17; ++n) sum += metrics.counter(std::to_string(n)).value();
  EXPECT_EQ(sum, 2000u);
}

}  // namespace
}  // namespace trireme::monitor
