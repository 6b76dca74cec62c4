// `trireme generate` for a model that generates images. It writes samples.png to the job's folder,
// with a row per class (samples.json names the rows), or IDX files on which other jobs can train.
//
//   --count N       images per class; 8 by default
//   --only A,B      only these classes, by name or number
//   --to DIR        writes IDX files there, as data.extra reads them, instead of samples.png
//   --seed S
//
// Errors:        InvalidInput for an unknown class, for samples that are not images, and with --to
//                for images whose scale cannot be restored; what writing throws.
// Thread safety: one thread.

#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>

#include "trireme/data/image/pixels.h"
#include "trireme/data/transform/transform_config.h"
#include "trireme/train/evaluate/class_sampler.h"
#include "trireme/train/recipe/worker_words.h"

namespace trireme::train {

int answer_draw(const WorkerWords& words, const TrainedModel& trained, const ClassSampler& sampler);

// A grid of images (N, C, H, W) with values from -1 to 1, with `columns` images per row, separated
// by lines of black pixels. REQUIRES: 1 or 3 channels.
data::image::Pixels picture_grid(const at::Tensor& pictures, std::int64_t columns);

// Converts samples (N, C, H, W) in the scale of a model's input to values from 0 to 1, by inverting
// the scaling of the settings. Per-image scaling (standardize) cannot be inverted; such images are
// stretched from their smallest to their largest value instead.
at::Tensor to_pixels(const at::Tensor& samples, const data::transform::TransformConfig& changes);

}  // namespace trireme::train
