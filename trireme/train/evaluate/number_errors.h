// NumberErrors sums the errors of predicted numbers, by column: several targets of a sample are
// columns, each with the same weight in r2.
//
// Thread safety: a value.

#pragma once

#include <cstdint>
#include <vector>

#include "trireme/base/moments.h"

namespace trireme::train {

class NumberErrors {
 public:
  explicit NumberErrors(std::int64_t columns) : columns_(static_cast<std::size_t>(columns)) {}

  // A target and its prediction. REQUIRES: 0 <= column < columns.
  void add(double truth, double answer, std::int64_t column = 0);
  bool is_empty() const noexcept { return columns_.front().truth.count == 0; }
  double mean_absolute() const noexcept;
  // The coefficient of determination: the mean over all columns with a variance; 0 if no column has
  // one.
  double r2() const noexcept;

  struct Column {
    Moments truth{};
    double absolute = 0;
    double squared = 0;
  };
  // For sums over ranks: the errors add up, the moments are merged.
  std::vector<Column>& columns() noexcept { return columns_; }
  const std::vector<Column>& columns() const noexcept { return columns_; }

 private:
  std::vector<Column> columns_;
};

}  // namespace trireme::train
