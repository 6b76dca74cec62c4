// The inner loops of the codecs. Most of them process blocks of values with one scale per block.
// They are compiled once per instruction set, and all versions give bitwise identical results.
//
// A block is kBlock values and always complete: callers pad the last one with zeros. The codes of a
// block with a non-finite value decode to NaN for the whole block, and its residual becomes zero.
//
// Rounding:      the dither of a value is a hash of its index in the block and of the block's 64
//                random bits. It has 2^16 equally likely levels.
// Thread safety: pure functions; any thread may call them.

#pragma once

#include <cstddef>
#include <cstdint>

namespace trireme::codec::kernel {

inline constexpr std::size_t kBlock = 256;
inline constexpr std::size_t kNibbles = kBlock / 2;  // bytes per block with 4 bits per value
inline constexpr std::size_t kSigns = kBlock / 8;    // bytes per block with 1 bit per value

// The arguments of an encoding loop. `residual` is null without error feedback.
struct Encoding {
  const float* values = nullptr;
  float* residual = nullptr;
  std::size_t blocks = 0;
  const std::uint64_t* seeds = nullptr;  // per block; not used for signs
  const float* counts = nullptr;  // per block: number of values in the mean; null means kBlock
  float* scales = nullptr;        // per block
  std::uint8_t* codes = nullptr;
};

struct Decoding {
  const float* scales = nullptr;
  const std::uint8_t* codes = nullptr;
  std::size_t blocks = 0;
  float* sum = nullptr;
};

struct Loops {
  // value / scale as signed bytes from -127 to 127.
  void (*encode8)(const Encoding&);
  void (*add8)(const Decoding&);
  // From -7 to 7, stored as 1 to 15: the first half of a block in the low 4 bits, the second half
  // in the high 4 bits.
  void (*encode4)(const Encoding&);
  void (*add4)(const Decoding&);
  // Bit i of a block is set if value i is negative. The scale is the mean magnitude over `counts`
  // values; the other values are zero padding or gaps.
  void (*encode_signs)(const Encoding&);
  void (*add_signs)(const Decoding&);
  // Error feedback: feed() computes whole = values + residual; leave() computes residual = whole -
  // decoded, with zero for non-finite values. These functions and the following ones accept any
  // count.
  void (*feed)(const float* values, const float* residual, float* whole, std::size_t count);
  void (*leave)(const float* whole, const float* decoded, float* residual, std::size_t count);
  // Conversions to 16-bit floats. Finite values that are too large become the largest finite one.
  void (*narrow_half)(const float* in, std::uint16_t* out, std::size_t count);
  void (*add_half)(const std::uint16_t* in, float* sum, std::size_t count);
  void (*narrow_bfloat16)(const float* in, std::uint16_t* out, std::size_t count);
  void (*add_bfloat16)(const std::uint16_t* in, float* sum, std::size_t count);
  // Vector operations of any length. dot() uses sixteen partial sums whatever the register width.
  float (*dot)(const float* a, const float* b, std::size_t count);
  void (*add_scaled)(float factor, const float* x, float* y, std::size_t count);
  const char* isa;
};

// The fastest loops that this machine supports.
const Loops& loops() noexcept;
// The loops for every machine, with which the others are compared.
const Loops& portable_loops() noexcept;

}  // namespace trireme::codec::kernel
