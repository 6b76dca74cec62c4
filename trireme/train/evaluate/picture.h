// Combines generated images into one.
//
// Thread safety: pure functions.

#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>

#include "trireme/data/image/pixels.h"
#include "trireme/data/transform/transform_config.h"

namespace trireme::train {

// A grid of images (N, C, H, W) with values from -1 to 1, with `columns` images per row, separated
// by lines of black pixels. REQUIRES: 1 or 3 channels.
data::image::Pixels picture_grid(const at::Tensor& pictures, std::int64_t columns);

// Converts samples (N, C, H, W) in the scale of a model's input to values from 0 to 1, by inverting
// the scaling of the settings. Per-image scaling (standardize) cannot be inverted; such images are
// stretched from their smallest to their largest value instead.
at::Tensor to_pixels(const at::Tensor& samples, const data::transform::TransformConfig& changes);

}  // namespace trireme::train
