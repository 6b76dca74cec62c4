// Gradient clipping: by global norm, or by value.
//
// Slices of one model may be on many ranks, so the sum of squares goes through a reducer that the
// caller passes. The sum of a slice is computed in double precision over a fixed grid of elements
// and does not depend on the number of threads. If slices are cut differently, its last bits may
// differ; the scale computed from it is rounded to float32, which hides the difference except in
// one of many millions of cases.
//
// Thread safety: pure functions; any thread.

#pragma once

#include <functional>
#include <span>

#include "trireme/optim/slice.h"

namespace trireme::optim {

// The sum of squares of all gradients; not finite if one of them is not.
double squared_norm(std::span<const Slice> slices);
double squared_norm(const at::Tensor& values);
// Tensors on a GPU are waited for once.
double squared_norm(std::span<const at::Tensor> many);

// Sums the value of this rank over all ranks.
using SumReducer = std::function<double(double)>;

struct Clipped {
  double norm = 0;   // of the gradients times `scale`, before clipping; may be infinite or NaN
  double scale = 1;  // what Optimizer::update must multiply gradients by
};

// `scale` is the factor that gradients are multiplied by in any case. With `norm_max` 0 nothing is
// clipped.
Clipped clip_by_norm(std::span<const Slice> slices, double norm_max, double scale = 1,
                     const SumReducer& reduce = {});

// The same for a known sum of squares.
Clipped clip_by_norm(double squares, double norm_max, double scale = 1);

// Limits every gradient, in place, to `value_max` after multiplication by `scale`.
void clip_by_value(std::span<const Slice> slices, double value_max, double scale = 1);

}  // namespace trireme::optim
