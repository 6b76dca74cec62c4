// Activity is what a GPU did in some time: how long it was busy, and with which kernels. It follows
// from the spans of a profiler, one per kernel and copy.
//
// Thread safety: values and pure functions.

#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace trireme::bench::gpu {

struct Span {
  std::string name;
  std::int64_t begin = 0;  // nanoseconds
  std::int64_t end = 0;
};

struct Activity {
  struct Kernel {
    std::string name;
    double seconds = 0;
    std::int64_t calls = 0;
  };

  double busy_seconds = 0;      // in which at least one of them ran
  std::vector<Kernel> kernels;  // by name, those with most time first

  static Activity of(std::span<const Span> spans);
};

// A table of the `count` kernels with most time, per step. Names are cut to a line.
std::string table_of(const Activity& activity, std::int64_t steps, std::size_t count);

}  // namespace trireme::bench::gpu
