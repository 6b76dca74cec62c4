// TopK sends the given fraction of values with the largest magnitude, exactly, and their positions.
//
// Error:         norm^2 <= (1 - k/n) norm^2 of the values, where k = ceil(ratio n). Biased: use it
//                with error feedback, which sends the remaining values later.
// Non-finite:    NaN and infinity count as the largest values, so they are sent.
// Wire format:   k indices in ascending order, 4 bytes each, then k float32.
// Thread safety: pure functions; any thread may call them.

#pragma once

#include "trireme/codec/codec.h"

namespace trireme::codec {

class TopK final : public Codec {
 public:
  // REQUIRES: 0 < ratio <= 1.
  explicit TopK(double ratio);

  std::size_t size_max(std::size_t count, std::span<const Part> parts) const override;
  std::size_t encode(std::span<const float> values, std::span<const Part> parts, const Draw& draw,
                     std::span<std::byte> out) const override;
  void add(ByteView coded, std::span<const Part> parts, std::span<float> sum) const override;
  std::size_t encode_fed(std::span<const float> values, std::span<float> residual,
                         std::span<const Part> parts, const Draw& draw,
                         std::span<std::byte> out) const override;
  bool is_unbiased() const override { return false; }
  std::shared_ptr<const Joint> joint() const override;

 private:
  double ratio_;
};

}  // namespace trireme::codec
