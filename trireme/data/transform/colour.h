// What is done to the colours of an image of values from 0 to 1, one channel or three, in place;
// results stay within 0 and 1. Each is what torchvision's function of the same name does.
//
// Threads: pure.

#pragma once

#include "trireme/data/transform/image.h"

namespace trireme::data::transform {

// Factors: 1 changes nothing, 0 gives black, the mean grey, grey, or a blurred image.
void adjust_brightness(float* image, ImageSize size, float factor);
void adjust_contrast(float* image, ImageSize size, float factor);
void adjust_saturation(float* image, ImageSize size, float factor);
void adjust_sharpness(float* image, ImageSize size, float factor);

// Turns every colour by so much of the circle of hues, -0.5 to 0.5; grey stays grey.
void adjust_hue(float* image, ImageSize size, float turn);

// Keeps so many of the eight bits of a value.
void posterize(float* image, ImageSize size, int bits);
// Inverts what is as bright as that or brighter.
void solarize(float* image, ImageSize size, float threshold);
// Stretches each channel from its least to its most.
void autocontrast(float* image, ImageSize size);
// Brings each channel, as bytes, to an even histogram.
void equalize(float* image, ImageSize size);

// A square of zeros about a place, as much of it as lies within.
void cut_out(float* image, ImageSize size, std::int64_t side, std::int64_t row,
             std::int64_t column);

}  // namespace trireme::data::transform
