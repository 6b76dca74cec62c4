// Goal:   sparse codecs send the documented values: the largest, those above a threshold, or one of
//         every run of neighbours.
// Method: comparison with sorting; counted bounds; the positions of a draw checked one by one.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "trireme/base/error.h"
#include "trireme/base/random.h"
#include "trireme/codec/kinds.h"
#include "trireme/codec/pairs.h"
#include "trireme/codec/select.h"

namespace trireme::codec {
namespace {

std::shared_ptr<const Codec> threshold(double factor) {
  return make_codec({.kind = CodecKind::Threshold, .threshold = factor});
}

std::shared_ptr<const Codec> random_k(double ratio, bool is_scaled) {
  return make_codec({.kind = CodecKind::RandomK, .has_error_feedback = !is_scaled, .ratio = ratio});
}

std::vector<float> some_values(std::size_t count, bool has_ties) {
  Random random(count);
  std::vector<float> values(count);
  for (float& value : values) {
    value = static_cast<float>(random.normal());
    if (has_ties) value = std::round(value);
  }
  return values;
}

TEST(CodecSelect, FindsTheCutThatSortingFinds) {
  for (const std::size_t count : {1u, 2u, 97u, 1000u}) {
    for (const bool has_ties : {false, true}) {
      const std::vector<float> values = some_values(count, has_ties);
      std::vector<std::uint32_t> sorted;
      for (const float value : values) sorted.push_back(magnitude_bits(value));
      std::sort(sorted.begin(), sorted.end(), std::greater<>());
      for (const std::size_t k : {std::size_t{1}, count / 3 + 1, count}) {
        const Cut cut = find_cut(values, k);
        EXPECT_EQ(cut.bits, sorted[k - 1]) << count << " " << k;
        const auto larger = static_cast<std::size_t>(std::count_if(
            sorted.begin(), sorted.end(), [&](std::uint32_t bits) { return bits > cut.bits; }));
        EXPECT_EQ(larger + cut.equal, k);
      }
    }
  }
}

TEST(CodecTopK, SendsExactlyTheLargest) {
  const std::vector<float> values = some_values(1009, /*has_ties=*/true);
  const auto made = make_codec({.kind = CodecKind::TopK, .ratio = 0.1});
  const Codec& codec = *made;
  Bytes out(codec.size_max(values.size(), {}));
  EXPECT_EQ(out.size(), 101 * kPairSize);
  codec.encode(values, {}, {}, out);
  std::vector<float> sum(values.size());
  codec.add(out, {}, sum);
  float least = std::numeric_limits<float>::max(), most_left = 0;
  std::size_t sent = 0;
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (sum[i] != 0) {
      ++sent;
      EXPECT_EQ(sum[i], values[i]);
      least = std::min(least, std::fabs(sum[i]));
    } else {
      most_left = std::max(most_left, std::fabs(values[i]));
    }
  }
  EXPECT_EQ(sent, 101u);
  EXPECT_GE(least, most_left);
}

TEST(CodecPairs, RefusePlacesOutside) {
  Bytes out(kPairSize);
  PairWriter(out, 1).put(5, 2.0f);
  std::vector<float> sum(6);
  add_pairs(out, sum);
  EXPECT_EQ(sum[5], 2.0f);
  sum.resize(5);
  EXPECT_THROW(add_pairs(out, sum), Error);
  out.pop_back();
  EXPECT_THROW(add_pairs(out, sum), Error);
}

TEST(CodecThreshold, SendsWhatIsBeyondOrAllWhereThatIsLess) {
  std::vector<float> values(900, 0.01f);
  for (std::size_t i = 0; i < 99; ++i) values[i * 9] = i % 2 == 0 ? 1.0f : -1.0f;
  Bytes out(4 * values.size());
  const auto far = threshold(2);  // root mean square 0.332
  EXPECT_EQ(far->encode(values, {}, {}, out), 99 * kPairSize);
  std::vector<float> sum(values.size());
  far->add({out.data(), 99 * kPairSize}, {}, sum);
  for (std::size_t i = 0; i < sum.size(); ++i)
    EXPECT_EQ(sum[i], i % 9 == 0 && i < 891 ? values[i] : 0);
  const auto near = threshold(0.01);
  EXPECT_EQ(near->encode(values, {}, {}, out), 4 * values.size());
  std::fill(sum.begin(), sum.end(), 0.0f);
  near->add(out, {}, sum);
  EXPECT_EQ(sum, values);
}

// Equal values never exceed twice their own root mean square, and are still sent eventually.
TEST(CodecThreshold, LeavesNothingForEver) {
  const std::vector<float> values(100, 0.5f);
  std::vector<float> residual(100), sum(100);
  const auto made = threshold(2);
  const Codec& codec = *made;
  for (int step = 0; step < 7; ++step) {
    Bytes out(400);
    out.resize(codec.encode_fed(values, residual, {}, {}, out));
    codec.add(out, {}, sum);
  }
  EXPECT_EQ(sum, std::vector<float>(100, 3.0f));
  EXPECT_EQ(residual, std::vector<float>(100, 0.5f));
}

TEST(CodecThreshold, ABoundBeyondAllFloatsLosesNothing) {
  const std::vector<float> values(100, 1e37f);
  std::vector<float> residual(100);
  const auto made = threshold(1000);
  const Codec& codec = *made;
  Bytes out(codec.size_max(100, {}));
  EXPECT_EQ(codec.encode_fed(values, residual, {}, {}, out), 0u);
  EXPECT_EQ(residual, values);
}

// With error feedback no residual exceeds factor times the root mean square of the new values.
TEST(CodecThreshold, LeavesAtMostItsBoundWithErrorFeedback) {
  constexpr std::size_t kCount = 1000;
  constexpr double kFactor = 1.5;
  const auto made = threshold(kFactor);
  const Codec& codec = *made;
  std::vector<float> residual(kCount);
  std::size_t sent = 0;
  for (std::uint64_t step = 0; step < 20; ++step) {
    Random random(100 + step);
    std::vector<float> values(kCount);
    double squares = 0;
    for (float& value : values) {
      value = static_cast<float>(random.normal() * (step % 2 == 0 ? 1 : 0.3));
      squares += double{value} * value;
    }
    Bytes out(codec.size_max(kCount, {}));
    sent += codec.encode_fed(values, residual, {}, {}, out);
    const double bound = kFactor * std::sqrt(squares / kCount) * 1.0001;
    for (const float left : residual) ASSERT_LE(std::fabs(left), bound) << "step " << step;
  }
  EXPECT_LT(sent, 20 * 4 * kCount);  // without sending everything
}

// Scaled: the mean is the value, the variance (n/k - 1) x^2. Unscaled: the mean norm^2 of the error
// is (1 - k/n) that of the values.
TEST(CodecRandomK, HasTheMeanAndTheVarianceThatItStates) {
  constexpr std::size_t kCount = 100;
  constexpr int kDraws = 10000;
  const std::vector<float> values = some_values(kCount, /*has_ties=*/false);
  const auto scaled = random_k(0.25, /*is_scaled=*/true);
  const auto plain = random_k(0.25, /*is_scaled=*/false);
  std::vector<double> mean(kCount), squares(kCount);
  double lost = 0, all = 0;
  for (const float value : values) all += double{value} * value;
  for (int draw = 0; draw < kDraws; ++draw) {
    const Draw own{.seed = 5, .stream = static_cast<std::uint64_t>(draw)};
    std::vector<float> once(kCount), kept(kCount);
    Bytes out(scaled->size_max(kCount, {}));
    scaled->encode(values, {}, own, out);
    scaled->add(out, {}, once);
    plain->encode(values, {}, own, out);
    plain->add(out, {}, kept);
    for (std::size_t i = 0; i < kCount; ++i) {
      mean[i] += double{once[i]} / kDraws;
      const double off = double{once[i]} - values[i];
      squares[i] += off * off / kDraws;
      lost += (double{values[i]} - kept[i]) * (double{values[i]} - kept[i]) / kDraws;
    }
  }
  for (std::size_t i = 0; i < kCount; ++i) {
    const double x = values[i];
    // 4 x with probability 1/4: the deviation is sqrt(3) |x|, and that of the squares is sqrt(12)
    // x^2.
    ASSERT_NEAR(mean[i], x, 5 * std::sqrt(3.0 / kDraws) * std::fabs(x));
    ASSERT_NEAR(squares[i], 3 * x * x, 5 * std::sqrt(12.0 / kDraws) * x * x);
  }
  EXPECT_NEAR(lost, 0.75 * all, 0.01 * all);
}

TEST(CodecRandomK, DrawsOneOfEveryRunAndEveryPlaceInTurn) {
  constexpr std::size_t kCount = 103;
  const auto made = random_k(0.2, /*is_scaled=*/true);
  const Codec& codec = *made;
  const std::vector<float> ones(kCount, 1);
  std::vector<float> sum(kCount);
  constexpr int kDraws = 3000;
  for (int draw = 0; draw < kDraws; ++draw) {
    Bytes out(codec.size_max(kCount, {}));
    codec.encode(ones, {}, {.seed = 3, .stream = static_cast<std::uint64_t>(draw)}, out);
    std::vector<float> once(kCount);
    codec.add(out, {}, once);
    ASSERT_EQ(std::count_if(once.begin(), once.end(), [](float x) { return x != 0; }), 21);
    for (std::size_t i = 0; i < kCount; ++i) sum[i] += once[i];
  }
  // Drawn with probability 1/5 and scaled by five: a variance of 4.
  for (const float one : sum) EXPECT_NEAR(one / kDraws, 1, 5 * 2 / std::sqrt(double{kDraws}));
}

}  // namespace
}  // namespace trireme::codec
