// PowerSgd sends matrices as products of two thin ones (Vogels, Karimireddy, Jaggi: "PowerSGD:
// practical low-rank gradient compression", 2019): one step of subspace iteration, which begins
// where the last step's ended.
//
//   P = M Q, made orthonormal;  Q = M' P;  what is sent is P and Q;  what it means is P Q'
//
// Error: norm^2 = norm^2 of M - norm^2 of P' M, never more than that of M; none for a matrix whose
//        rank is at most `rank`. Repeated for one M, it goes to that of the best approximation,
//        whatever came before: what a matrix of lower rank left empty is drawn anew.
//        Biased: use it with error feedback. Vectors, and matrices that would not become smaller,
//        are sent as they are.
// A matrix with a value that is not finite comes out as NaN; so does one whose squares add up to
// more than a float holds.
//
// Wire:    by parameter: rank rows of P', then rank rows of Q', or the values; float32.
// Threads: encode() writes the parts' `kept`, which is Q'; otherwise pure.

#pragma once

#include "trireme/codec/codec.h"

namespace trireme::codec {

class PowerSgd final : public Codec {
 public:
  // REQUIRES: rank >= 1.
  explicit PowerSgd(int rank);

  std::size_t size_max(std::size_t count, std::span<const Part> parts) const override;
  std::size_t encode(std::span<const float> values, std::span<const Part> parts, const Draw& draw,
                     std::span<std::byte> out) const override;
  void add(ByteView coded, std::span<const Part> parts, std::span<float> sum) const override;
  bool is_unbiased() const override { return false; }
  std::size_t kept_count(const Part& part) const override;

 private:
  // Of this parameter's factors; 0: it is sent as it is.
  std::size_t rank_of(const Part& part) const noexcept;
  std::size_t sent_count(const Part& part) const noexcept;

  std::size_t rank_;
};

// Makes `count` vectors of `length` floats each, one after the other, orthonormal; what depends on
// earlier ones becomes zero.
void orthonormalize(float* vectors, std::size_t count, std::size_t length);

}  // namespace trireme::codec
