// Affine is how an image is turned, scaled, slanted and moved about its centre.
//
// Meaning: a point of the new image, from the centre in pixels, right and down, is looked up at
//          matrix * point in the old one: between the four pixels around it, bilinear, where what
//          lies outside is zero; as torch's grid_sample() with zeros and without align_corners.
// Threads: pure.

#pragma once

#include "trireme/data/transform/image.h"

namespace trireme::data::transform {

struct Affine {
  float xx = 1, xy = 0, x = 0;  // from x = xx * to_x + xy * to_y + x
  float yx = 0, yy = 1, y = 0;

  // Counter-clockwise, in degrees.
  static Affine turned(double degrees);
  // Larger than 1: things get larger.
  static Affine scaled(double factor);
  static Affine slanted(double along_x, double along_y);
  // Things move right and down by so many pixels.
  static Affine moved(double right, double down);

  bool is_nothing() const noexcept;
  // First `first`, then this.
  Affine after(const Affine& first) const;
};

// REQUIRES: no pixel shared.
void warp(const float* from, float* to, ImageSize size, const Affine& affine);

}  // namespace trireme::data::transform
