#include "trireme/data/standard.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/empty.h>

#include <cmath>

#include "trireme/base/check.h"

namespace trireme::data {
namespace {

// One row (columns), to be broadcast to the values.
at::Tensor row_of(const at::Tensor& values, const std::vector<Standard>& columns,
                  double Standard::* member) {
  const auto count = static_cast<std::int64_t>(columns.size());
  TRIREME_CHECK(values.dim() > 0 && values.size(-1) == count, "values of ", count, " columns");
  const at::Tensor row = at::empty({count}, at::kDouble);
  for (std::int64_t i = 0; i < count; ++i) {
    row.mutable_data_ptr<double>()[i] = columns[static_cast<std::size_t>(i)].*member;
  }
  return row.to(values.device(), /*non_blocking=*/true);
}

}  // namespace

Standard Standard::of(const Moments& moments) {
  const double deviation = std::sqrt(moments.variance());
  return {.mean = moments.mean, .deviation = deviation > 0 ? deviation : 1};
}

at::Tensor restored_difference(const at::Tensor& values, const std::vector<Standard>& columns) {
  if (columns.empty()) return values;
  return values.to(at::kDouble) * row_of(values, columns, &Standard::deviation);
}

at::Tensor standardized(const at::Tensor& values, const std::vector<Standard>& columns) {
  if (columns.empty()) return values;
  return (values.to(at::kDouble) - row_of(values, columns, &Standard::mean)) /
         row_of(values, columns, &Standard::deviation);
}

at::Tensor restored(const at::Tensor& values, const std::vector<Standard>& columns) {
  if (columns.empty()) return values;
  return restored_difference(values, columns) + row_of(values, columns, &Standard::mean);
}

}  // namespace trireme::data
