// A Codec compresses the values of a bucket, and adds decoded values to a sum. It does not
// communicate: trireme/parallel/data/coded/coded_sum.h sends the bytes.
//
// To write a new codec, derive from this class and implement size_max(), encode(), add() and
// is_unbiased(). A codec is stateless: state that it needs in the next step is stored in the parts'
// `kept`, which the caller keeps with the parameters and saves in checkpoints.
//
// Reproducibility: add() gives bitwise identical results for the same bytes on every rank and every
//                  machine.
// Non-finite:      if an encoded value is not finite, add() produces at least one non-finite value,
//                  so that a check of the sum detects it. encode_fed() leaves no non-finite value
//                  in the residual.
// Errors:          add() throws Corrupt for bytes that encode() does not produce for these parts.
// Thread safety:   const members may be called from any thread, with different parts.

#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "trireme/base/bytes.h"

namespace trireme::codec {

// A parameter's range in a bucket; parts are in ascending order. The gaps between parts are zero
// and stay zero. Without parts, the whole bucket is one vector.
struct BucketPart {
  std::size_t begin = 0;
  std::size_t count = 0;
  // The shape as a matrix: the first dimension and the product of all others. A vector is one row.
  std::size_t rows = 1;
  std::size_t columns = 0;
  // State that encode() keeps from step to step: kept_count() floats, initially zero.
  std::span<float> kept{};
};

// The inputs of random choices: equal draws lead to equal choices.
struct Draw {
  std::uint64_t seed = 0;    // the job's seed
  std::uint64_t stream = 0;  // identifies the step and the bucket
  std::uint32_t rank = 0;    // makes the rounding of different ranks independent
  std::size_t quota = 0;     // for a Joint codec: how many of these values are sent
};

class Joint;

class Codec {
 public:
  virtual ~Codec() = default;

  // The maximum number of bytes that encode() writes for `count` values.
  virtual std::size_t size_max(std::size_t count, std::span<const BucketPart> parts) const = 0;
  // True if encode() always writes size_max() bytes, so that the size need not be sent.
  virtual bool is_fixed_size() const { return true; }
  // Writes into `out`, which has size_max() bytes, and returns the number of bytes written.
  virtual std::size_t encode(std::span<const float> values, std::span<const BucketPart> parts,
                             const Draw& draw, std::span<std::byte> out) const = 0;
  // Adds the decoded values to `sum`.
  virtual void add(ByteView coded, std::span<const BucketPart> parts,
                   std::span<float> sum) const = 0;

  // encode() with error feedback: encodes values + residual and stores the compression error in the
  // residual.
  virtual std::size_t encode_fed(std::span<const float> values, std::span<float> residual,
                                 std::span<const BucketPart> parts, const Draw& draw,
                                 std::span<std::byte> out) const;

  // True if the expectation of the decoded values over draws equals the encoded values.
  virtual bool is_unbiased() const = 0;
  // The number of floats of state for this parameter.
  virtual std::size_t kept_count(const BucketPart& /*part*/) const { return 0; }
  // For a bucket that is sharded over several ranks: the codec with which these ranks jointly
  // select the values to send. Null: each rank encodes its shard as if it were a bucket.
  virtual std::shared_ptr<const Joint> joint() const { return nullptr; }
};

}  // namespace trireme::codec
