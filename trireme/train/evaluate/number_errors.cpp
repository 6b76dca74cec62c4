#include "trireme/train/evaluate/number_errors.h"

#include <cmath>

namespace trireme::train {

void NumberErrors::add(double truth, double answer, std::int64_t column) {
  Column& at = columns_.at(static_cast<std::size_t>(column));
  at.truth.add(truth);
  at.absolute += std::abs(truth - answer);
  at.squared += (truth - answer) * (truth - answer);
}

double NumberErrors::mean_absolute() const noexcept {
  double absolute = 0, count = 0;
  for (const Column& column : columns_) {
    absolute += column.absolute;
    count += column.truth.count;
  }
  return count == 0 ? 0 : absolute / count;
}

double NumberErrors::r2() const noexcept {
  double sum = 0;
  int varying = 0;
  for (const Column& column : columns_) {
    if (column.truth.squares <= 0) continue;
    sum += 1 - column.squared / column.truth.squares;
    ++varying;
  }
  return varying == 0 ? 0 : sum / varying;
}

}  // namespace trireme::train
