// The loops of codecs, most of which treat values in blocks, each with a scale of its own; compiled
// once an instruction set, and the same bits from all of them.
//
// A block is kBlock values, and always whole: callers fill the last one up with zeros. Codes of a
// block that has a value which is not finite mean NaN for all of it, and its residual becomes zero.
//
// Rounding: a value's dither is a hash of its place in the block and of the block's own 64 random
//           bits. It has 2^16 equally likely steps.
// Threads:  pure.

#pragma once

#include <cstddef>
#include <cstdint>

namespace trireme::codec::kernel {

inline constexpr std::size_t kBlock = 256;
inline constexpr std::size_t kNibbles = kBlock / 2;  // bytes of a block in 4 bits
inline constexpr std::size_t kSigns = kBlock / 8;    // bytes of a block in 1 bit

// What a call works on. `residual` null: there is none.
struct Encoding {
  const float* values = nullptr;
  float* residual = nullptr;
  std::size_t blocks = 0;
  const std::uint64_t* seeds = nullptr;  // by block; none for signs
  const float* counts = nullptr;         // by block: what a mean is over; null: kBlock
  float* scales = nullptr;               // by block
  std::uint8_t* codes = nullptr;
};

struct Decoding {
  const float* scales = nullptr;
  const std::uint8_t* codes = nullptr;
  std::size_t blocks = 0;
  float* sum = nullptr;
};

struct Loops {
  // Signed bytes: value / scale, from -127 to 127.
  void (*encode8)(const Encoding&);
  void (*add8)(const Decoding&);
  // From -7 to 7, as 1 to 15: of the first half of a block the low bits, of the second the high.
  void (*encode4)(const Encoding&);
  void (*add4)(const Decoding&);
  // Bit i of a block: whether value i is negative. The scale is the mean magnitude of `counts`
  // values: the others, which are zeros, are not the caller's.
  void (*encode_signs)(const Encoding&);
  void (*add_signs)(const Decoding&);
  // 16-bit floats; these take any count. Finite values that are too large become the largest.
  // Values and what is owed of them; and what is owed then, of what is not finite nothing.
  void (*feed)(const float* values, const float* owed, float* whole, std::size_t count);
  void (*leave)(const float* whole, const float* decoded, float* owed, std::size_t count);
  void (*narrow_half)(const float* in, std::uint16_t* out, std::size_t count);
  void (*add_half)(const std::uint16_t* in, float* sum, std::size_t count);
  void (*narrow_bfloat16)(const float* in, std::uint16_t* out, std::size_t count);
  void (*add_bfloat16)(const std::uint16_t* in, float* sum, std::size_t count);
  // Of vectors of any length; dot() in sixteen sums side by side, whatever the width of registers.
  float (*dot)(const float* a, const float* b, std::size_t count);
  void (*add_scaled)(float factor, const float* x, float* y, std::size_t count);
  const char* isa;
};

// Those of this machine.
const Loops& loops() noexcept;
// Those that every machine has: what the others are compared with.
const Loops& portable_loops() noexcept;

}  // namespace trireme::codec::kernel
