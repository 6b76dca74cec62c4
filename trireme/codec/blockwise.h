// Blockwise codecs: values in blocks of 256, each with a scale, in 8, 4 or 1 bits a value.
//
//   int8  |error| <= max|block| / 127, rounded up or down at random, unbiased
//   int4  |error| <= max|block| / 7, likewise
//   sign  the block's mean magnitude with each value's sign:
//         error norm^2 = norm^2 - (sum of magnitudes)^2 / m, where m of its values are parameters'
//         (256 but for the last block of a bucket and around what lies between parameters)
//
// A block with max|block| below 127 * 2^-120 (int4: 7 * 2^-120) becomes zero: its error is |x|.
// Unbiased means but for that, and up to 2^-14 of a step, since dither has 2^16 levels and numbers
// of steps are float32. A block with a value that is not finite comes out as NaN, all of it.
//
// Wire:    a float32 a block, then the codes, block after block; of the last one only what it has.
// Threads: pure.

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
