// Pictures side by side as one: what a model made, for people.
//
// Threads: pure.

#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>

#include "trireme/data/image/pixels.h"
#include "trireme/data/transform/transform_config.h"

namespace trireme::train {

// (N, C, H, W) of values from -1 to 1, so many in a row, a line of black pixels between them.
// REQUIRES: 1 or 3 channels.
data::image::Pixels picture_grid(const at::Tensor& pictures, std::int64_t columns);

// Samples (N, C, H, W) as a model is given them, as values from 0 to 1 again: what the settings did
// to pictures' scale undone. One that each picture had of its own (standardize) is gone, and each
// is stretched from its least to its most instead.
at::Tensor to_pixels(const at::Tensor& samples, const data::transform::TransformConfig& changes);

}  // namespace trireme::train
