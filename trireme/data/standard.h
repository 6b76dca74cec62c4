// Standard is how a column of numbers was standardized to mean 0 and standard deviation 1. Input
// and target columns of tables each have one, computed from the training rows.
//
// Thread safety: value types; the functions are pure.

#pragma once

#include <ATen/core/Tensor.h>

#include <vector>

#include "trireme/base/moments.h"

namespace trireme::data {

struct Standard {
  double mean = 0;
  double deviation = 1;

  // The deviation of a constant column is set to 1, so that the column becomes zero.
  static Standard of(const Moments& moments);

  // In double precision: with a large mean, float would lose the digits of a small variance.
  double apply(double value) const noexcept { return (value - mean) / deviation; }
  bool operator==(const Standard&) const = default;
};

// Converts standardized values (..., columns) to original units, as float64. Without standards,
// returns the values unchanged.
at::Tensor restored(const at::Tensor& values, const std::vector<Standard>& columns);
// The inverse of restored().
at::Tensor standardized(const at::Tensor& values, const std::vector<Standard>& columns);
// restored() for differences between two standardized values.
at::Tensor restored_difference(const at::Tensor& values, const std::vector<Standard>& columns);

}  // namespace trireme::data
