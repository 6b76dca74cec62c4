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

#include <algorithm>
#include <cmath>
#include <cstring>

#include "trireme/base/check.h"
#include "trireme/base/random.h"
#include "trireme/codec/codec.h"
#include "trireme/codec/codec_config.h"
#include "trireme/codec/coded_size.h"
#include "trireme/codec/kernel/blocks.h"

namespace trireme::codec {
namespace {

// After orthogonalization, a vector with a relative norm below this counts as linearly dependent.
constexpr float kDependent = 1e-6f;

float dot(const float* a, const float* b, std::size_t count) {
  return kernel::loops().dot(a, b, count);
}

// y += factor * x.
void add_scaled(float factor, const float* x, float* y, std::size_t count) {
  kernel::loops().add_scaled(factor, x, y, count);
}

bool is_all_zero(std::span<const float> values) {
  return std::all_of(values.begin(), values.end(), [](float value) { return value == 0; });
}

// Initializes each zero row of Q' with random numbers, the same on every rank; any vector that is
// not orthogonal to the dominant subspace works. Initially all rows are zero. Later a row is zero
// if the last matrix had a lower rank, and would otherwise stay zero forever.
void draw_starts(const BucketPart& part, std::span<float> q) {
  Random random(0x706f776572, part.begin);
  std::size_t drawn = 0;
  for (std::size_t begin = 0; begin < q.size(); begin += part.columns) {
    const std::span<float> row = q.subspan(begin, part.columns);
    if (!is_all_zero(row)) continue;
    for (; drawn < begin; ++drawn) random.normal();  // skip, so that every row has its own numbers
    for (float& one : row) one = static_cast<float>(random.normal());
    drawn += part.columns;
  }
}

// Makes `count` consecutive vectors of `length` floats each orthonormal. A vector that depends
// linearly on earlier ones becomes zero.
void orthonormalize(float* vectors, std::size_t count, std::size_t length) {
  for (std::size_t c = 0; c < count; ++c) {
    float* own = vectors + c * length;
    const float before = std::sqrt(dot(own, own, length));
    // Two passes are enough: the second one removes the rounding error of the first.
    for (int time = 0; time < 2; ++time) {
      for (std::size_t d = 0; d < c; ++d) {
        const float* other = vectors + d * length;
        add_scaled(-dot(own, other, length), other, own, length);
      }
    }
    const float norm = std::sqrt(dot(own, own, length));
    const bool is_dependent = norm <= kDependent * before;
    for (std::size_t i = 0; i < length; ++i) own[i] = is_dependent ? 0.0f : own[i] / norm;
  }
}

struct Factors {
  std::vector<float> p;  // (rank, rows)
  std::vector<float> q;  // (rank, columns)
};

Factors factorize(const float* m, const BucketPart& part, std::size_t rank) {
  Factors found{.p = std::vector<float>(rank * part.rows),
                .q = std::vector<float>(part.kept.begin(), part.kept.end())};
  draw_starts(part, found.q);
  for (std::size_t i = 0; i < part.rows; ++i) {
    for (std::size_t c = 0; c < rank; ++c) {
      found.p[c * part.rows + i] =
          dot(m + i * part.columns, found.q.data() + c * part.columns, part.columns);
    }
  }
  orthonormalize(found.p.data(), rank, part.rows);
  std::fill(found.q.begin(), found.q.end(), 0.0f);
  for (std::size_t i = 0; i < part.rows; ++i) {
    for (std::size_t c = 0; c < rank; ++c) {
      add_scaled(found.p[c * part.rows + i], m + i * part.columns,
                 found.q.data() + c * part.columns, part.columns);
    }
  }
  return found;
}

// Stores Q' for the next step, or zeros if it has non-finite values.
void keep(std::span<const float> q, std::span<float> kept) {
  const bool is_finite =
      std::all_of(q.begin(), q.end(), [](float value) { return std::isfinite(value); });
  std::fill(kept.begin(), kept.end(), 0.0f);
  if (is_finite) std::copy(q.begin(), q.end(), kept.begin());
}

class PowerSgd final : public Codec {
 public:
  // REQUIRES: rank >= 1.
  explicit PowerSgd(int rank) : rank_(static_cast<std::size_t>(rank)) {
    TRIREME_CHECK(rank >= 1, "a rank of ", rank);
  }

  std::size_t size_max(std::size_t, std::span<const BucketPart> parts) const override {
    std::size_t count = 0;
    for (const BucketPart& part : parts) count += sent_count(part);
    return count * sizeof(float);
  }

  std::size_t encode(std::span<const float> values, std::span<const BucketPart> parts, const Draw&,
                     std::span<std::byte> out) const override {
    std::byte* at = out.data();
    const auto put = [&at](const float* data, std::size_t count) {
      if (count > 0) std::memcpy(at, data, count * sizeof(float));
      at += count * sizeof(float);
    };
    for (const BucketPart& part : parts) {
      TRIREME_CHECK(part.begin + part.count <= values.size(), "a part beyond the values");
      const float* own = values.data() + part.begin;
      const std::size_t rank = rank_of(part);
      if (rank == 0) {
        put(own, part.count);
        continue;
      }
      TRIREME_CHECK_EQ(part.kept.size(), kept_count(part), "floats kept for a matrix");
      const Factors factors = factorize(own, part, rank);
      keep(factors.q, part.kept);
      put(factors.p.data(), factors.p.size());
      put(factors.q.data(), factors.q.size());
    }
    return static_cast<std::size_t>(at - out.data());
  }

  void add(ByteView coded, std::span<const BucketPart> parts, std::span<float> sum) const override {
    expect_size(coded, size_max(sum.size(), parts));
    std::vector<float> sent;
    for (const BucketPart& part : parts) {
      TRIREME_CHECK(part.begin + part.count <= sum.size(), "a part beyond the values");
      sent.resize(sent_count(part));
      if (!sent.empty()) std::memcpy(sent.data(), coded.data(), sent.size() * sizeof(float));
      coded = coded.subspan(sent.size() * sizeof(float));
      float* own = sum.data() + part.begin;
      const std::size_t rank = rank_of(part);
      if (rank == 0) {
        add_scaled(1, sent.data(), own, part.count);
        continue;
      }
      const float* q = sent.data() + rank * part.rows;
      for (std::size_t i = 0; i < part.rows; ++i) {
        for (std::size_t c = 0; c < rank; ++c) {
          add_scaled(sent[c * part.rows + i], q + c * part.columns, own + i * part.columns,
                     part.columns);
        }
      }
    }
  }

  bool is_unbiased() const override { return false; }
  std::size_t kept_count(const BucketPart& part) const override {
    return rank_of(part) * part.columns;
  }

 private:
  // The rank of this parameter's factors; 0 if it is sent uncompressed.
  std::size_t rank_of(const BucketPart& part) const noexcept {
    const std::size_t rank = std::min({rank_, part.rows, part.columns});
    const bool is_matrix = part.rows * part.columns == part.count;
    return is_matrix && rank * (part.rows + part.columns) < part.count ? rank : 0;
  }

  std::size_t sent_count(const BucketPart& part) const noexcept {
    const std::size_t rank = rank_of(part);
    return rank == 0 ? part.count : rank * (part.rows + part.columns);
  }

  std::size_t rank_;
};

}  // namespace

std::shared_ptr<const Codec> make_power_sgd(const CodecConfig& config) {
  return std::make_shared<PowerSgd>(config.rank);
}

}  // namespace trireme::codec
