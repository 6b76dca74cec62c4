// PowerSgd sends matrices as products of two low-rank factors (Vogels, Karimireddy, Jaggi:
// "PowerSGD: practical low-rank gradient compression", 2019). Each step is one step of subspace
// iteration that starts from the result of the previous step.
//
//   P = M Q, made orthonormal;  Q = M' P;  P and Q are sent;  the decoded matrix is P Q'
//
// Error:         norm^2 = norm^2 of M - norm^2 of P' M, never more than that of M; zero for a
//                matrix whose rank is at most `rank`. Repeated for the same M, the error converges
//                to that of the best approximation, whatever the previous state: rows that a matrix
//                of lower rank left empty are initialized again. Biased: use it with error
//                feedback. Vectors, and matrices that would not become smaller, are sent
//                uncompressed.
// Non-finite:    a matrix with a non-finite value decodes to NaN, and so does one whose sum of
//                squares exceeds the range of float.
// Wire format:   for each parameter, rank rows of P', then rank rows of Q', or the values; float32.
// Thread safety: encode() writes the parts' `kept`, which holds Q'; otherwise pure.

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
  // The rank of this parameter's factors; 0 if it is sent uncompressed.
  std::size_t rank_of(const Part& part) const noexcept;
  std::size_t sent_count(const Part& part) const noexcept;

  std::size_t rank_;
};

// Makes `count` consecutive vectors of `length` floats each orthonormal. A vector that depends
// linearly on earlier ones becomes zero.
void orthonormalize(float* vectors, std::size_t count, std::size_t length);

}  // namespace trireme::codec
