// Counter counts events; Gauge holds a current value. Each update is one atomic operation.
//
// Thread safety: any thread may use them without locks. A reader sees some recent value; two
//                counters are not read at the same instant.

#pragma once

#include <atomic>
#include <cstdint>

namespace trireme::monitor {

class Counter {
 public:
  void add(std::uint64_t count = 1) noexcept { value_.fetch_add(count, std::memory_order_relaxed); }
  std::uint64_t value() const noexcept { return value_.load(std::memory_order_relaxed); }

 private:
  std::atomic<std::uint64_t> value_{0};
};

class Gauge {
 public:
  void set(double value) noexcept { value_.store(value, std::memory_order_relaxed); }
  void add(double delta) noexcept { value_.fetch_add(delta, std::memory_order_relaxed); }
  double value() const noexcept { return value_.load(std::memory_order_relaxed); }

 private:
  std::atomic<double> value_{0};
};

}  // namespace trireme::monitor
