// Goal:   PowerSGD works as in its paper: exact for matrices of low rank, converging to the best
//         approximation when repeated, vectors uncompressed, the factors equal to plain arithmetic.
// Method: matrices with known singular values; one step compared with the same in double.

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <numeric>

#include "trireme/base/random.h"
#include "trireme/codec/kinds.h"

namespace trireme::codec {
namespace {

constexpr std::size_t kRows = 23, kColumns = 40;

std::vector<float> normal_numbers(std::size_t count, std::uint64_t seed) {
  Random random(seed);
  std::vector<float> values(count);
  for (float& value : values) value = static_cast<float>(random.normal());
  return values;
}

std::shared_ptr<const Codec> power_sgd(int rank) {
  return make_codec({.kind = CodecKind::PowerSgd, .rank = rank});
}

// `count` random orthonormal vectors, one after the other: Gram-Schmidt in double.
std::vector<float> orthonormal(std::size_t count, std::size_t length, std::uint64_t seed) {
  const std::vector<float> random = normal_numbers(count * length, seed);
  std::vector<double> all(random.begin(), random.end());
  for (std::size_t c = 0; c < count; ++c) {
    const std::span own = std::span(all).subspan(c * length, length);
    for (std::size_t d = 0; d <= c; ++d) {
      const std::span other = std::span(all).subspan(d * length, length);
      const double share = std::inner_product(own.begin(), own.end(), other.begin(), 0.0);
      for (std::size_t i = 0; i < length; ++i) {
        own[i] = d == c ? own[i] / std::sqrt(share) : own[i] - share * other[i];
      }
    }
  }
  return {all.begin(), all.end()};
}

// A sum of outer products of orthonormal vectors with these singular values.
std::vector<float> matrix_with(const std::vector<double>& singular) {
  const std::vector<float> left = orthonormal(singular.size(), kRows, 1);
  const std::vector<float> right = orthonormal(singular.size(), kColumns, 2);
  std::vector<float> m(kRows * kColumns);
  for (std::size_t s = 0; s < singular.size(); ++s) {
    for (std::size_t i = 0; i < kRows; ++i) {
      for (std::size_t j = 0; j < kColumns; ++j) {
        m[i * kColumns + j] +=
            static_cast<float>(singular[s] * left[s * kRows + i]) * right[s * kColumns + j];
      }
    }
  }
  return m;
}

struct Sent {
  std::vector<float> decoded;
  double lost = 0;  // norm of the error
};

Sent send(const Codec& codec, const std::vector<float>& m, const BucketPart& part) {
  Bytes out(codec.size_max(m.size(), {&part, 1}));
  codec.encode(m, {&part, 1}, {}, out);
  Sent sent{.decoded = std::vector<float>(m.size())};
  codec.add(out, {&part, 1}, sent.decoded);
  for (std::size_t i = 0; i < m.size(); ++i) {
    sent.lost += (double{m[i]} - sent.decoded[i]) * (double{m[i]} - sent.decoded[i]);
  }
  sent.lost = std::sqrt(sent.lost);
  return sent;
}

TEST(CodecPowerSgd, IsExactForLowRank) {
  const auto made = power_sgd(2);
  const Codec& codec = *made;
  std::vector<float> kept(2 * kColumns);
  const BucketPart part{
      .count = kRows * kColumns, .rows = kRows, .columns = kColumns, .kept = kept};
  EXPECT_EQ(codec.kept_count(part), kept.size());
  EXPECT_EQ(codec.size_max(part.count, {&part, 1}), 4 * 2 * (kRows + kColumns));
  EXPECT_LT(send(codec, matrix_with({3, 0.5}), part).lost, 1e-5);
  std::fill(kept.begin(), kept.end(), 0.0f);
  // A matrix of lower rank than allowed: linearly dependent vectors become zero.
  EXPECT_LT(send(codec, matrix_with({2}), part).lost, 1e-5);
}

TEST(CodecPowerSgd, GoesToTheBestApproximation) {
  const auto made = power_sgd(2);
  const Codec& codec = *made;
  std::vector<float> kept(2 * kColumns);
  const BucketPart part{
      .count = kRows * kColumns, .rows = kRows, .columns = kColumns, .kept = kept};
  const std::vector<float> m = matrix_with({4, 2, 1, 0.5});
  const double best = std::sqrt(1 + 0.25), whole = std::sqrt(16 + 4 + 1 + 0.25);
  double before = whole;
  for (int step = 0; step < 8; ++step) {
    const double lost = send(codec, m, part).lost;
    EXPECT_GE(lost, best * 0.9999);
    EXPECT_LE(lost, before * 1.0001);
    before = lost;
  }
  EXPECT_NEAR(before, best, 1e-3);
}

// After a matrix of rank 1, there is no start vector left for the second factor.
TEST(CodecPowerSgd, ComesBackFromAMatrixOfLowerRank) {
  const auto made = power_sgd(2);
  const Codec& codec = *made;
  std::vector<float> kept(2 * kColumns);
  const BucketPart part{
      .count = kRows * kColumns, .rows = kRows, .columns = kColumns, .kept = kept};
  EXPECT_LT(send(codec, matrix_with({3}), part).lost, 1e-5);
  const std::vector<float> m = matrix_with({4, 2, 1, 0.5});
  double lost = 0;
  for (int step = 0; step < 50; ++step) lost = send(codec, m, part).lost;
  EXPECT_NEAR(lost, std::sqrt(1 + 0.25), 1e-3);
  // The same after a matrix of zeros.
  send(codec, std::vector<float>(m.size()), part);
  for (int step = 0; step < 50; ++step) lost = send(codec, m, part).lost;
  EXPECT_NEAR(lost, std::sqrt(1 + 0.25), 1e-3);
}

// norm^2 of the error = norm^2(M) - norm^2(P' M), with the P that was sent.
TEST(CodecPowerSgd, LosesWhatItsFormulaSays) {
  constexpr std::size_t kRank = 3;
  const auto made = power_sgd(kRank);
  const Codec& codec = *made;
  std::vector<float> kept(kRank * kColumns);
  const BucketPart part{
      .count = kRows * kColumns, .rows = kRows, .columns = kColumns, .kept = kept};
  for (std::uint64_t step = 0; step < 4; ++step) {
    const std::vector<float> m = normal_numbers(kRows * kColumns, 20 + step);
    Bytes out(codec.size_max(m.size(), {&part, 1}));
    codec.encode(m, {&part, 1}, {}, out);
    std::vector<float> p(kRank * kRows), decoded(m.size());
    std::memcpy(p.data(), out.data(), p.size() * sizeof(float));
    codec.add(out, {&part, 1}, decoded);
    double lost = 0, all = 0, projected = 0;
    for (std::size_t i = 0; i < m.size(); ++i) {
      lost += (double{m[i]} - decoded[i]) * (double{m[i]} - decoded[i]);
      all += double{m[i]} * m[i];
    }
    for (std::size_t c = 0; c < kRank; ++c) {
      for (std::size_t j = 0; j < kColumns; ++j) {
        double one = 0;
        for (std::size_t i = 0; i < kRows; ++i)
          one += double{p[c * kRows + i]} * m[i * kColumns + j];
        projected += one * one;
      }
    }
    EXPECT_NEAR(lost, all - projected, 1e-4 * all);
    EXPECT_GT(projected, 0.1 * all);
  }
}

// P = M Q, orthonormalized by Gram-Schmidt, and Q = M' P, in double, from the stored Q.
TEST(CodecPowerSgd, TheFactorsAreThoseOfPlainArithmetic) {
  constexpr std::size_t kRank = 3;
  const auto made = power_sgd(kRank);
  const Codec& codec = *made;
  std::vector<float> kept = normal_numbers(kRank * kColumns, 5);
  const std::vector<float> q = kept;
  const std::vector<float> m = normal_numbers(kRows * kColumns, 6);
  const BucketPart part{.count = m.size(), .rows = kRows, .columns = kColumns, .kept = kept};
  const std::vector<float> found = send(codec, m, part).decoded;

  double p[kRank][kRows] = {};
  for (std::size_t c = 0; c < kRank; ++c) {
    for (std::size_t i = 0; i < kRows; ++i) {
      for (std::size_t j = 0; j < kColumns; ++j) {
        p[c][i] += double{m[i * kColumns + j]} * q[c * kColumns + j];
      }
    }
    for (std::size_t d = 0; d < c; ++d) {
      double product = 0;
      for (std::size_t i = 0; i < kRows; ++i) product += p[c][i] * p[d][i];
      for (std::size_t i = 0; i < kRows; ++i) p[c][i] -= product * p[d][i];
    }
    double norm = 0;
    for (const double one : p[c]) norm += one * one;
    for (double& one : p[c]) one /= std::sqrt(norm);
  }
  for (std::size_t j = 0; j < kColumns; ++j) {
    double product[kRank] = {};
    for (std::size_t c = 0; c < kRank; ++c) {
      for (std::size_t i = 0; i < kRows; ++i) product[c] += double{m[i * kColumns + j]} * p[c][i];
      EXPECT_NEAR(kept[c * kColumns + j], product[c], 1e-4);
    }
    for (std::size_t i = 0; i < kRows; ++i) {
      double expected = 0;
      for (std::size_t c = 0; c < kRank; ++c) expected += p[c][i] * product[c];
      ASSERT_NEAR(found[i * kColumns + j], expected, 1e-4);
    }
  }
}

TEST(CodecPowerSgd, SendsVectorsAndSmallMatricesAsTheyAre) {
  const auto made = power_sgd(4);
  const Codec& codec = *made;
  const std::vector<float> values = normal_numbers(64, 7);
  const BucketPart parts[] = {{.begin = 0, .count = 30, .rows = 1, .columns = 30},
                              {.begin = 32, .count = 20, .rows = 4, .columns = 5}};
  Bytes out(codec.size_max(values.size(), parts));
  EXPECT_EQ(out.size(), 50 * sizeof(float));
  codec.encode(values, parts, {}, out);
  std::vector<float> sum(values.size());
  codec.add(out, parts, sum);
  for (std::size_t i = 0; i < 64; ++i) {
    const bool is_part = i < 30 || (i >= 32 && i < 52);
    EXPECT_EQ(sum[i], is_part ? values[i] : 0.0f) << i;
  }
}

}  // namespace
}  // namespace trireme::codec
