// JointTopK is TopK of a bucket that several ranks hold in slices: together they send the k values
// of the bucket that are largest in magnitude, exactly, and where they are.
//
// Error: of all slices together norm^2 = norm^2 of the bucket - the k largest squares, which is at
//        most (1 - k/n) norm^2 of it, where k = ceil(ratio n) of its n values, however they lie in
//        slices. No other choice of k values loses less. Biased: use it with error feedback.
// NaN and infinity count as largest, so some slice sends one.
//
// Wire:    as many pairs as the slice's quota (trireme/codec/pairs.h), or all values, zeros for
//          those that are not sent, where that is less.
// Threads: pure.

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
