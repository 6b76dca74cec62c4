// Blockwise quantization: values in blocks of 256 with one scale per block, in 8, 4 or 1 bits per
// value.
//
//   int8  |error| <= max|block| / 127, stochastic rounding, unbiased
//   int4  |error| <= max|block| / 7, stochastic rounding, unbiased
//   sign  the sign of each value times the mean magnitude of its block:
//         error norm^2 = norm^2 - (sum of magnitudes)^2 / m, where m is the number of values in the
//         block that belong to parameters (256 except in the last block of a bucket and in blocks
//         that overlap a gap between parameters)
//
// A block with max|block| below 127 * 2^-120 (int4: 7 * 2^-120) becomes zero: its error is |x|.
// Apart from that, "unbiased" holds up to 2^-14 of a quantization step, because the dither has 2^16
// levels and step counts are float32. If a block contains a non-finite value, the whole block
// decodes to NaN.
//
// Wire format:   one float32 scale per block, then the codes of all blocks; those of the last block
//                are not padded.
// Thread safety: pure functions; any thread may call them.

#pragma once

#include "trireme/codec/codec.h"

namespace trireme::codec {

enum class Width { Eight, Four, One };  // bits

class Blockwise final : public Codec {
 public:
  explicit Blockwise(Width width) : width_(width) {}

  std::size_t size_max(std::size_t count, std::span<const Part> parts) const override;
  std::size_t encode(std::span<const float> values, std::span<const Part> parts, const Draw& draw,
                     std::span<std::byte> out) const override;
  void add(ByteView coded, std::span<const Part> parts, std::span<float> sum) const override;
  std::size_t encode_fed(std::span<const float> values, std::span<float> residual,
                         std::span<const Part> parts, const Draw& draw,
                         std::span<std::byte> out) const override;
  bool is_unbiased() const override { return width_ != Width::One; }

 private:
  std::size_t code_size(std::size_t count) const noexcept;
  std::size_t run(std::span<const float> values, float* residual, std::span<const Part> parts,
                  const Draw& draw, std::span<std::byte> out) const;

  Width width_;
};

}  // namespace trireme::codec
