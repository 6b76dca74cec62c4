// A Codec turns the values of a bucket into fewer bytes, and adds what bytes say to a sum. It knows
// nothing of ranks: trireme/parallel/data/exchange.h sends the bytes.
//
// To write one of your own, derive from it and say size_max(), encode() and add(). All of them are
// pure: what a codec wants kept from one step to the next lies in the parts' `kept`, which the
// caller stores beside the parameters, and saves.
//
// Same bits: add() gives the same result for the same bytes on every rank and every machine.
// Broken:    a value that is not finite makes what add() gives not finite somewhere, so that
//            whoever looks at the sum sees it. encode_fed() leaves no such value in the residual.
// Failure:   add() throws Corrupt for bytes that encode() does not write for such parts.
// Threads:   const calls from any thread, with different parts.

#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "trireme/base/bytes.h"

namespace trireme::codec {

// A parameter's place in a bucket, in ascending order. What lies between two of them is zero, and
// stays so. No parts at all: the bucket is one vector.
struct Part {
  std::size_t begin = 0;
  std::size_t count = 0;
  // As a matrix: the first dimension, and all others. A vector is one row.
  std::size_t rows = 1;
  std::size_t columns = 0;
  // What encode() keeps from step to step: kept_count() floats, zeros at first.
  std::span<float> kept{};
};

// What choices follow from, besides the values: the same draw makes the same ones.
struct Draw {
  std::uint64_t seed = 0;    // of the job
  std::uint64_t stream = 0;  // of the step and the bucket
  std::uint32_t rank = 0;    // roundings of different ranks are independent
  std::size_t quota = 0;     // of a Joint codec: how many of these values are sent
};

class Joint;

class Codec {
 public:
  virtual ~Codec() = default;

  // The most bytes that encode() writes for `count` values.
  virtual std::size_t size_max(std::size_t count, std::span<const Part> parts) const = 0;
  // Whether it always writes so many, which saves telling the size.
  virtual bool is_fixed_size() const { return true; }
  // Writes into `out`, which has size_max() bytes; returns how many it wrote.
  virtual std::size_t encode(std::span<const float> values, std::span<const Part> parts,
                             const Draw& draw, std::span<std::byte> out) const = 0;
  // Adds the values that were encoded to `sum`.
  virtual void add(ByteView coded, std::span<const Part> parts, std::span<float> sum) const = 0;

  // encode() with error feedback: of values + residual, and what gets lost becomes the residual.
  virtual std::size_t encode_fed(std::span<const float> values, std::span<float> residual,
                                 std::span<const Part> parts, const Draw& draw,
                                 std::span<std::byte> out) const;

  // Whether the mean over draws of what add() gives is what was encoded.
  virtual bool is_unbiased() const = 0;
  // How many floats are to be kept for this parameter.
  virtual std::size_t kept_count(const Part& /*part*/) const { return 0; }
  // For a bucket that several ranks hold in slices: the codec with which they choose together what
  // they send. Null: each encodes its slice as if it were a bucket.
  virtual std::shared_ptr<const Joint> joint() const { return nullptr; }
};

}  // namespace trireme::codec
