// Pictures side by side as one: what a model made, for people.
//
// Threads: pure.

#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>

#include "trireme/data/image/pixels.h"

namespace trireme::train {

// (N, C, H, W) of values from -1 to 1, so many in a row, a line of black pixels between them.
// REQUIRES: 1 or 3 channels.
data::image::Pixels picture_grid(const at::Tensor& pictures, std::int64_t columns);

}  // namespace trireme::train
