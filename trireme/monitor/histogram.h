// Histogram counts values by size class. Quantiles such as the 99th percentile of step times cost
// about 2 KiB in total and one atomic addition per value.
//
// Precision:     each power of two is divided into four classes: a reported quantile is never below
//                the true one and at most 25 % above it. Values from 2^-30 (a nanosecond, in
//                seconds) to 2^34 are supported; values outside count as the nearest limit.
//                Negative values and NaN count as zero.
// Thread safety: any thread may add values, without locks; a concurrent snapshot may miss the
//                latest ones.

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
    // The smallest bound that `fraction` (0 ... 1) of the values do not exceed; 0 if empty.
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
