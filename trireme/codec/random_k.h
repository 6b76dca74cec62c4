// RandomK sends one value of every n/k neighbours, drawn by lot. All ranks draw the same places in
// a step, which follow from the draw: only values are sent.
//
// Error: kept as they are, mean error norm^2 = (1 - k/n) norm^2 of the values: for error feedback.
//        Made larger by the number of neighbours (is_scaled), unbiased, with a variance of
//        (n/k - 1) x^2 for each value x. Where k does not divide n, some values have one
//        neighbour more than others: n/k is then how many a value has.
// Where a value is not finite, all that is sent is NaN.
//
// Wire:    the draw's seed and stream, 8 bytes each, then k = ceil(ratio n) float32.
// Threads: pure.

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
