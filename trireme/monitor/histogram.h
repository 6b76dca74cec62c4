// Histogram counts values by size class, so that "how long do 99 % of steps take at most?" costs
// a few hundred bytes and one atomic addition a value, however many values there were.
//
// Meaning:  each power of two is divided into four classes: a quantile is at most 25 % above the
//           true one and never below it. Values from 2^-30 (a nanosecond, in seconds) to 2^34;
//           those outside count as the nearest of the two. Negative and NaN count as zero.
// Threads:  any thread adds, without locks; a snapshot taken meanwhile may miss the very latest.

#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

namespace trireme::monitor {

class Histogram {
 public:
  static constexpr int kExponentMin = -30;
  static constexpr int kExponentMax = 34;
  static constexpr std::size_t kClassesAPower = 4;
  static constexpr std::size_t kClasses =
      1 + kClassesAPower * static_cast<std::size_t>(kExponentMax - kExponentMin);

  struct Snapshot {
    std::array<std::uint64_t, kClasses> counts{};
    std::uint64_t count = 0;
    double sum = 0;
    double max = 0;

    double mean() const noexcept { return count == 0 ? 0 : sum / static_cast<double>(count); }
    // The least bound that `fraction` (0 ... 1) of the values do not exceed; 0 when empty.
    double quantile(double fraction) const noexcept;
  };

  void add(double value) noexcept;
  Snapshot snapshot() const noexcept;

  // The class of a value, and the largest value of a class.
  static std::size_t class_of(double value) noexcept;
  static double bound_of(std::size_t index) noexcept;

 private:
  std::array<std::atomic<std::uint64_t>, kClasses> counts_{};
  std::atomic<double> sum_{0};
  std::atomic<double> max_{0};
};

}  // namespace trireme::monitor
