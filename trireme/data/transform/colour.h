// Changes the colours of an image with values from 0 to 1, one channel or three, in place; results
// stay between 0 and 1. Each function does what torchvision's function of the same name does.
//
// Thread safety: pure functions; any thread.

#pragma once

#include "trireme/data/transform/image.h"

namespace trireme::data::transform {

// A factor of 1 changes nothing; 0 gives black, the mean grey, greyscale, or a blurred image.
void adjust_brightness(float* image, ImageSize size, float factor);
void adjust_contrast(float* image, ImageSize size, float factor);
void adjust_saturation(float* image, ImageSize size, float factor);
void adjust_sharpness(float* image, ImageSize size, float factor);

// Rotates the hue of every colour by this fraction of the circle, -0.5 to 0.5; grey stays grey.
void adjust_hue(float* image, ImageSize size, float turn);

// Keeps this number of the eight bits of a value.
void posterize(float* image, ImageSize size, int bits);
// Inverts values at or above the threshold.
void solarize(float* image, ImageSize size, float threshold);
// Stretches each channel from its minimum to its maximum.
void autocontrast(float* image, ImageSize size);
// Equalizes the histogram of each channel, as bytes.
void equalize(float* image, ImageSize size);

// Sets a square around a position to zero, as far as it is inside the image.
void cut_out(float* image, ImageSize size, std::int64_t side, std::int64_t row,
             std::int64_t column);

}  // namespace trireme::data::transform
