// RandomK divides the values into k runs of n/k neighbours and sends one randomly drawn value of
// each run. In one step all ranks draw the same positions, which the draw determines, so only
// values are sent.
//
// Error:         unscaled, the mean error norm^2 = (1 - k/n) norm^2 of the values: use it with
//                error feedback. Scaled by the length of the run (is_scaled), it is unbiased, with
//                a variance of (n/k - 1) x^2 for each value x. If k does not divide n, some runs
//                are longer by one; n/k is then the length of the value's run.
// Non-finite:    if any value is not finite, all values sent are NaN.
// Wire format:   the draw's seed and stream, 8 bytes each, then k = ceil(ratio n) float32.
// Thread safety: pure functions; any thread may call them.

#pragma once

#include "trireme/codec/codec.h"

namespace trireme::codec {

class RandomK final : public Codec {
 public:
  // REQUIRES: 0 < ratio <= 1.
  RandomK(double ratio, bool is_scaled);

  std::size_t size_max(std::size_t count, std::span<const Part> parts) const override;
  std::size_t encode(std::span<const float> values, std::span<const Part> parts, const Draw& draw,
                     std::span<std::byte> out) const override;
  void add(ByteView coded, std::span<const Part> parts, std::span<float> sum) const override;
  bool is_unbiased() const override { return is_scaled_; }

 private:
  double ratio_;
  bool is_scaled_;
};

}  // namespace trireme::codec
