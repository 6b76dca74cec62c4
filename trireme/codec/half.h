// Half sends values as 16-bit floats, rounded to nearest even.
//
//   fp16  |error| <= max(2^-11 |x|, 2^-25) up to 65504; larger values become 65504
//   bf16  |error| <= max(2^-8 |x|, 2^-134), up to the largest float
//
// Infinity and NaN are preserved. Rounding is deterministic and therefore not unbiased.
//
// Wire format:   two bytes per value.
// Thread safety: pure functions; any thread may call them.

#pragma once

#include "trireme/codec/codec.h"

namespace trireme::codec {

enum class HalfKind { Float16, BFloat16 };

class Half final : public Codec {
 public:
  explicit Half(HalfKind kind) : kind_(kind) {}

  std::size_t size_max(std::size_t count, std::span<const Part>) const override {
    return count * 2;
  }
  std::size_t encode(std::span<const float> values, std::span<const Part> parts, const Draw& draw,
                     std::span<std::byte> out) const override;
  void add(ByteView coded, std::span<const Part> parts, std::span<float> sum) const override;
  std::size_t encode_fed(std::span<const float> values, std::span<float> residual,
                         std::span<const Part> parts, const Draw& draw,
                         std::span<std::byte> out) const override;
  bool is_unbiased() const override { return false; }

 private:
  HalfKind kind_;
};

}  // namespace trireme::codec
