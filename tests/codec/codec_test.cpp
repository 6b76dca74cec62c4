// Goal:   every codec keeps its documented error bound, also at unusual sizes, signals non-finite
//         values, loses nothing permanently with error feedback, and refuses bytes of other sizes.
// Method: all kinds through the interface, with random values of a fixed seed; bounds as formulas.

#include "trireme/codec/codec.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <numeric>

#include "trireme/base/error.h"
#include "trireme/base/random.h"
#include "trireme/codec/codec_config.h"
#include "trireme/codec/coded_size.h"
#include "trireme/codec/kinds.h"
#include "trireme/codec/zstd/lossless.h"

namespace trireme::codec {
namespace {

constexpr std::size_t kSizes[] = {0, 1, 2, 127, 128, 129, 255, 256, 257, 1009, 4099};

std::vector<float> normal_values(std::size_t count, std::uint64_t seed) {
  Random random(seed);
  std::vector<float> values(count);
  for (float& value : values) value = static_cast<float>(random.normal() * 0.01);
  return values;
}

// A codec with one parameter that fills the bucket, as square a matrix as its size allows.
struct Single {
  explicit Single(CodecKind kind, std::size_t values)
      : codec(make_codec({.kind = kind, .ratio = 0.05, .threshold = 2})), count(values) {
    part = {.begin = 0, .count = count, .rows = 1, .columns = count};
    for (std::size_t rows = 1; rows * rows <= count; ++rows) {
      if (count % rows == 0) part.rows = rows, part.columns = count / rows;
    }
    kept.resize(codec->kept_count(part));
    part.kept = kept;
  }

  Bytes encode(std::span<const float> values, std::uint64_t stream = 1) {
    Bytes out(codec->size_max(count, {&part, 1}));
    out.resize(codec->encode(values, {&part, 1}, {.seed = 7, .stream = stream}, out));
    return out;
  }
  Bytes encode_fed(std::span<const float> values, std::span<float> residual, std::uint64_t stream) {
    Bytes out(codec->size_max(count, {&part, 1}));
    out.resize(codec->encode_fed(values, residual, {&part, 1}, {.seed = 7, .stream = stream}, out));
    return out;
  }
  std::vector<float> decode(ByteView coded) {
    std::vector<float> sum(count);
    codec->add(coded, {&part, 1}, sum);
    return sum;
  }

  std::shared_ptr<const Codec> codec;
  std::size_t count;
  BucketPart part;
  std::vector<float> kept;
};

double squares_of(std::span<const float> values) {
  double all = 0;
  for (const float value : values) all += double{value} * value;
  return all;
}

// The largest magnitude in the block of 256 that contains value i.
double block_max(std::span<const float> values, std::size_t i) {
  double most = 0;
  const std::size_t begin = i / 256 * 256;
  for (std::size_t j = begin; j < std::min(begin + 256, values.size()); ++j) {
    most = std::max(most, std::fabs(double{values[j]}));
  }
  return most;
}

// One quantization step, or the whole value if the steps would be too small.
double step_bound(double top, double most, double x) {
  return std::max(most / top * 1.0001, most <= top * 0x1p-120 * 1.0001 ? x : 0);
}

// The maximum error of one value; negative if there is no such bound.
double value_bound(CodecKind kind, std::span<const float> values, std::size_t i, double rms) {
  const double x = std::fabs(double{values[i]});
  switch (kind) {
    case CodecKind::Fp16:
      return std::max(0x1p-11 * x, 0x1p-25);
    case CodecKind::Bf16:
      return std::max(0x1p-8 * x, 0x1p-134);
    case CodecKind::Int8:
      return step_bound(127, block_max(values, i), x);
    case CodecKind::Int4:
      return step_bound(7, block_max(values, i), x);
    case CodecKind::Threshold:
      return 2 * rms * 1.0001;
    case CodecKind::Zstd:
      return 0;
    default:
      return -1;
  }
}

class EveryCodec : public ::testing::TestWithParam<CodecKind> {
 protected:
  void SetUp() override {
    if (GetParam() == CodecKind::Zstd && !zstd::is_available()) {
      GTEST_SKIP() << "NOT TESTED: this build has no zstd";
    }
  }
};

TEST_P(EveryCodec, KeepsItsBoundAtAwkwardSizes) {
  for (const std::size_t count : kSizes) {
    Single one(GetParam(), count);
    const std::vector<float> values = normal_values(count, count + 1);
    const Bytes coded = one.encode(values);
    EXPECT_LE(coded.size(), one.codec->size_max(count, {&one.part, 1}));
    if (one.codec->is_fixed_size()) {
      EXPECT_EQ(coded.size(), one.codec->size_max(count, {&one.part, 1}));
    }
    const std::vector<float> decoded = one.decode(coded);
    const double rms = std::sqrt(squares_of(values) / std::max(1.0, double(count)));
    double lost = 0;
    for (std::size_t i = 0; i < count; ++i) {
      const double error = double{values[i]} - decoded[i];
      lost += error * error;
      const double bound = value_bound(GetParam(), values, i, rms);
      if (bound >= 0) {
        ASSERT_LE(std::fabs(error), bound) << "value " << i << " of " << count;
      }
    }
    EXPECT_LE(lost, squares_of(values) * 1.0001) << count;
    if (GetParam() == CodecKind::TopK) {
      EXPECT_LE(lost, 0.95 * squares_of(values) + 1e-12) << count;
    }
  }
}

// From the smallest to the largest floats: a full block of each magnitude, and an incomplete one.
TEST_P(EveryCodec, KeepsItsBoundAtTheEdgesOfTheRange) {
  constexpr std::size_t kCount = 256 + 40;
  for (const int exponent : {-149, -140, -134, -127, -122, -121, -120, -114, -30, 4, 15, 120}) {
    if (GetParam() == CodecKind::Fp16 && exponent >= 15) continue;      // they are clamped
    if (GetParam() == CodecKind::PowerSgd && exponent >= 60) continue;  // squares overflow
    Single one(GetParam(), kCount);
    std::vector<float> values = normal_values(kCount, 17);
    for (float& value : values) value = std::ldexp(value, exponent + 6);
    const std::vector<float> decoded = one.decode(one.encode(values));
    const double rms = std::sqrt(squares_of(values) / kCount);
    for (std::size_t i = 0; i < kCount; ++i) {
      const double bound = value_bound(GetParam(), values, i, rms);
      ASSERT_TRUE(std::isfinite(decoded[i])) << "2^" << exponent;
      if (bound < 0) continue;
      ASSERT_LE(std::fabs(double{values[i]} - decoded[i]), bound) << i << " of 2^" << exponent;
    }
  }
}

TEST_P(EveryCodec, TheLargestFloatsStayFinite) {
  constexpr float kLargest = std::numeric_limits<float>::max();
  // The factors of such a matrix exceed the range of float and decode to non-finite values.
  if (GetParam() == CodecKind::PowerSgd || GetParam() == CodecKind::Sign) return;
  Single one(GetParam(), 300);
  std::vector<float> values(300);
  for (std::size_t i = 0; i < 300; i += 10) values[i] = i % 20 == 0 ? kLargest : -kLargest;
  std::vector<float> residual(300);
  for (const float value : one.decode(one.encode_fed(values, residual, 1))) {
    ASSERT_TRUE(std::isfinite(value));
  }
  for (const float left : residual) ASSERT_TRUE(std::isfinite(left));
}

TEST_P(EveryCodec, AddsToWhatIsThere) {
  Single one(GetParam(), 300);
  const Bytes coded = one.encode(normal_values(300, 3));
  const std::vector<float> once = one.decode(coded);
  std::vector<float> sum(300, 1.0f);
  one.codec->add(coded, {&one.part, 1}, sum);
  for (std::size_t i = 0; i < sum.size(); ++i) ASSERT_NEAR(sum[i], 1 + once[i], 1e-6) << i;
}

// Over T steps with the same values, the total sent is T times the values minus the last residual,
// which does not grow.
TEST_P(EveryCodec, LosesNothingForGoodWithErrorFeedback) {
  constexpr std::size_t kCount = 1024;
  constexpr int kSteps = 60;
  Single one(GetParam(), kCount);
  const std::vector<float> values = normal_values(kCount, 5);
  std::vector<float> residual(kCount), sum(kCount);
  for (int step = 0; step < kSteps; ++step) {
    const Bytes coded = one.encode_fed(values, residual, static_cast<std::uint64_t>(step));
    one.codec->add(coded, {&one.part, 1}, sum);
  }
  for (std::size_t i = 0; i < kCount; ++i) {
    ASSERT_NEAR(sum[i] + residual[i], kSteps * double{values[i]}, 2e-5) << i;
  }
  // With 5 % of the values per step, each value waits for about 20 steps.
  EXPECT_LT(std::sqrt(squares_of(residual)), 25 * std::sqrt(squares_of(values)));
}

TEST_P(EveryCodec, TellsOfValuesThatAreNotFinite) {
  for (const float broken :
       {std::numeric_limits<float>::quiet_NaN(), std::numeric_limits<float>::infinity(),
        -std::numeric_limits<float>::infinity()}) {
    Single one(GetParam(), 600);
    std::vector<float> values = normal_values(600, 9);
    values[333] = broken;
    std::vector<float> residual(600, 0.001f);
    const std::vector<float> decoded = one.decode(one.encode_fed(values, residual, 2));
    const double sum = std::accumulate(decoded.begin(), decoded.end(), 0.0);
    EXPECT_FALSE(std::isfinite(sum)) << broken;
    for (const float left : residual) ASSERT_TRUE(std::isfinite(left));
    // The next step is not affected.
    values[333] = 0;
    for (const float value : one.decode(one.encode_fed(values, residual, 3))) {
      ASSERT_TRUE(std::isfinite(value));
    }
  }
}

TEST_P(EveryCodec, RefusesBytesOfAnotherSize) {
  Single one(GetParam(), 600);
  std::vector<float> sum(600);
  Bytes coded = one.encode(normal_values(600, 11));
  coded.push_back(std::byte{1});
  EXPECT_THROW(one.codec->add(coded, {&one.part, 1}, sum), Error);
  EXPECT_THROW(expect_size(coded, 1), Error);
}

TEST_P(EveryCodec, DrawsTheSameForTheSameDraw) {
  Single one(GetParam(), 1000), other(GetParam(), 1000);
  const std::vector<float> values = normal_values(1000, 13);
  EXPECT_EQ(one.encode(values, 4), other.encode(values, 4));
}

// The standard deviation of one value over draws, for the unbiased kinds.
double deviation_of(CodecKind kind, std::span<const float> values, std::size_t i) {
  switch (kind) {
    case CodecKind::Int8:
      return block_max(values, i) / 127 / 2;
    case CodecKind::Int4:
      return block_max(values, i) / 7 / 2;
    case CodecKind::RandomK:  // one of four is drawn and scaled by four
      return std::sqrt(3.0) * std::fabs(double{values[i]});
    default:
      return 0;
  }
}

// Covers full blocks and an incomplete one. Rounding to nearest would be off by up to a whole
// deviation.
TEST_P(EveryCodec, IsUnbiasedWhereItSaysSo) {
  constexpr std::size_t kCount = 2 * 256 + 88;
  constexpr int kDraws = 3000;
  const auto codec = make_codec({.kind = GetParam(), .has_error_feedback = false, .ratio = 0.25});
  if (!codec->is_unbiased()) return;
  const std::vector<float> values = normal_values(kCount, 15);
  std::vector<double> sum(kCount);
  Bytes out(codec->size_max(kCount, {}));
  for (int draw = 0; draw < kDraws; ++draw) {
    const std::size_t size =
        codec->encode(values, {}, {.seed = 1, .stream = static_cast<std::uint64_t>(draw)}, out);
    std::vector<float> decoded(kCount);
    codec->add({out.data(), size}, {}, decoded);
    for (std::size_t i = 0; i < kCount; ++i) sum[i] += decoded[i];
  }
  for (std::size_t i = 0; i < kCount; ++i) {
    const double deviation = deviation_of(GetParam(), values, i) / std::sqrt(double{kDraws});
    ASSERT_NEAR(sum[i] / kDraws, values[i], 5 * deviation + 1e-12) << i;
  }
}

INSTANTIATE_TEST_SUITE_P(Kinds, EveryCodec, ::testing::ValuesIn(kCodecKinds),
                         [](const auto& one) { return std::string(name_of(one.param)); });

TEST(CodecKinds, NoneIsNoCodec) {
  EXPECT_EQ(make_codec({}), nullptr);
}

}  // namespace
}  // namespace trireme::codec
