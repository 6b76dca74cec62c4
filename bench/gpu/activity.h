// Activity is what a GPU did in some time: how long it was busy, with which kernels, and between
// which it paused. It follows from the spans of a profiler, one per kernel and copy.
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

  // Between a kernel and the next one.
  struct Pause {
    std::string after;
    std::string before;
    double seconds = 0;
    std::int64_t calls = 0;
  };

  double busy_seconds = 0;      // in which at least one of them ran
  std::vector<Kernel> kernels;  // by name, those with most time first
  std::vector<Pause> pauses;    // by both names, likewise

  static Activity of(std::span<const Span> spans);
};

// A table of the `count` kernels with most time, per step. Names are cut to a line.
std::string table_of(const Activity& activity, std::int64_t steps, std::size_t count);
// The same of the pauses, with their sum.
std::string table_of_pauses(const Activity& activity, std::int64_t steps, std::size_t count);

}  // namespace trireme::bench::gpu
