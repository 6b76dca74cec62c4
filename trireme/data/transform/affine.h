// Affine rotates, scales, shears and translates an image about its centre.
//
// Semantics:     a point of the new image, relative to the centre in pixels, right and down, is
//                read at matrix * point in the old image, with bilinear interpolation and zeros
//                outside; like torch's grid_sample() with zeros padding and without align_corners.
// Thread safety: pure functions; any thread.

#pragma once

#include "trireme/data/transform/image.h"

namespace trireme::data::transform {

struct Affine {
  float xx = 1, xy = 0, x = 0;  // from x = xx * to_x + xy * to_y + x
  float yx = 0, yy = 1, y = 0;

  // Counter-clockwise, in degrees.
  static Affine turned(double degrees);
  // A factor above 1 enlarges the content.
  static Affine scaled(double factor);
  static Affine slanted(double along_x, double along_y);
  // Moves the content right and down by this number of pixels.
  static Affine moved(double right, double down);

  bool is_nothing() const noexcept;
  // Applies `first`, then this.
  Affine after(const Affine& first) const;
};

// REQUIRES: the images do not overlap.
void warp(const float* from, float* to, ImageSize size, const Affine& affine);

}  // namespace trireme::data::transform
