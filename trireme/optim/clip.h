// Clipping: gradients that are too long, all together, are shortened; or each is cut off.
//
// Slices of one model may lie on many ranks, so the sum of squares goes through a reducer that the
// caller injects. A slice's sum is taken in double precision over a fixed grid of elements: it
// does not depend on threads. Slices cut elsewhere may differ in its last bits; the scale that is
// made of it is rounded to float32, which hides that but for one case in many millions.
//
// Threads: pure.

#pragma once

#include <functional>
#include <span>

#include "trireme/optim/slice.h"

namespace trireme::optim {

// The sum of squares of all gradients; not finite where one of them is not.
double squared_norm(std::span<const Slice> slices);
double squared_norm(const at::Tensor& values);

// Makes one rank's sum the sum over all ranks.
using SumReducer = std::function<double(double)>;

struct Clipped {
  double norm = 0;   // of the gradients times `scale`, before clipping; may be infinite or NaN
  double scale = 1;  // what Optimizer::update is to multiply gradients by
};

// `scale`: what gradients are to be multiplied by anyway. `norm_max` 0: never shortened.
Clipped clip_by_norm(std::span<const Slice> slices, double norm_max, double scale = 1,
                     const SumReducer& reduce = {});

// The same from a sum of squares that is known already.
Clipped clip_by_norm(double squares, double norm_max, double scale = 1);

// Cuts every gradient off, in place, where its size times `scale` is above `value_max`.
void clip_by_value(std::span<const Slice> slices, double value_max, double scale = 1);

}  // namespace trireme::optim
