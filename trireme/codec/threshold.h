// Threshold sends the values whose magnitude exceeds `factor` times the root mean square of the
// bucket, and their positions. The number of values sent depends on the gradients: it is small if a
// few values are far larger than the rest.
//
// Error:         |error| <= factor * rms. With error feedback, rms is that of the new values
//                without the residual, so that the residual stays bounded too. Biased: use it with
//                error feedback.
// Non-finite:    the first NaN or infinity is sent, and nothing else.
// Wire format:   the selected values as pairs (trireme/codec/pairs.h), or all values if that is
//                smaller.
// Thread safety: pure functions; any thread may call them.

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
