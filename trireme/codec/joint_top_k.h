// JointTopK is TopK for a bucket that is sharded over several ranks: together the ranks send the
// exact k values of the bucket with the largest magnitude, and their positions.
//
// Error:         over all shards together norm^2 = norm^2 of the bucket - the k largest squares,
//                which is at most (1 - k/n) norm^2 of the bucket, where k = ceil(ratio n) of its n
//                values, however they are distributed over the shards. No other choice of k values
//                has a smaller error. Biased: use it with error feedback.
// Non-finite:    NaN and infinity count as the largest values, so at least one of them is sent.
// Wire format:   the quota of the shard as pairs (trireme/codec/pairs.h), or all values, with zeros
//                for those not selected, if that is smaller.
// Thread safety: pure functions; any thread may call them.

#pragma once

#include "trireme/codec/joint.h"

namespace trireme::codec {

class JointTopK final : public Joint {
 public:
  // REQUIRES: 0 < ratio <= 1.
  explicit JointTopK(double ratio);

  std::size_t picked_of(std::size_t count) const override;
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
  double ratio_;
};

}  // namespace trireme::codec
