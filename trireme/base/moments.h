// Moments holds the count, mean and variance of a sequence of numbers, computed in one pass.
//
// Precision:     add() is Welford's update, and merge() is that of Chan, Golub and LeVeque. Neither
//                subtracts two large sums, so the variance stays accurate for a large mean and a
//                small variance. Merging in the same order gives bitwise identical results.
// Thread safety: a value type without shared state.

#pragma once

namespace trireme {

struct Moments {
  double count = 0;
  double mean = 0;
  double squares = 0;  // sum of squared differences from the mean

  void add(double value) noexcept {
    count += 1;
    const double from_mean = value - mean;
    mean += from_mean / count;
    squares += from_mean * (value - mean);
  }

  void merge(const Moments& other) noexcept {
    if (other.count == 0) return;
    const double both = count + other.count;
    const double between = other.mean - mean;
    mean += between * (other.count / both);
    squares += other.squares + between * between * (count * other.count / both);
    count = both;
  }

  // The population variance: divides by count, not by count - 1.
  double variance() const noexcept { return count > 0 ? squares / count : 0; }
};

}  // namespace trireme
