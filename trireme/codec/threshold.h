// Threshold sends the values larger in magnitude than `factor` times the root mean square of the
// bucket, and where they are. How many that is follows the gradients: few where some are far larger
// than most.
//
// Error: |error| <= factor * rms. With error feedback it is the root mean square of the new values
//        that counts, so that what is left of old ones stays bounded, too. Biased: use it so.
// NaN and infinity: the first of them is sent, and nothing else.
//
// Wire:    as many pairs as there are (trireme/codec/pairs.h), or all values, where that is less.
// Threads: pure.

#pragma once

#include "trireme/codec/codec.h"

namespace trireme::codec {

class Threshold final : public Codec {
 public:
  // REQUIRES: factor > 0.
  explicit Threshold(double factor);

  std::size_t size_max(std::size_t count, std::span<const Part>) const override {
    return count * sizeof(float);
  }
  bool is_fixed_size() const override { return false; }
  std::size_t encode(std::span<const float> values, std::span<const Part> parts, const Draw& draw,
                     std::span<std::byte> out) const override;
  void add(ByteView coded, std::span<const Part> parts, std::span<float> sum) const override;
  std::size_t encode_fed(std::span<const float> values, std::span<float> residual,
                         std::span<const Part> parts, const Draw& draw,
                         std::span<std::byte> out) const override;
  bool is_unbiased() const override { return false; }

 private:
  float cut_of(std::span<const float> values) const;

  double factor_;
};

}  // namespace trireme::codec
