// Goal:   the ranks that hold the shards of a bucket together send the top-k of the whole bucket,
//         with the documented error for any distribution of magnitudes; no non-finite value is
//         missed.
// Method: buckets split into shards of odd sizes, compared with TopK of the whole and with sorting.

#include "trireme/codec/joint.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "trireme/base/error.h"
#include "trireme/base/random.h"
#include "trireme/codec/kinds.h"
#include "trireme/codec/pairs.h"
#include "trireme/codec/select.h"

namespace trireme::codec {
namespace {

using Counts = std::vector<std::size_t>;

std::shared_ptr<const Codec> top_k(double ratio) {
  return make_codec({.kind = CodecKind::TopK, .ratio = ratio});
}

std::shared_ptr<const Joint> joint_top_k(double ratio) {
  return top_k(ratio)->joint();
}

const Counts kCuts[] = {{0},       {1},          {0, 0},        {1, 0, 0},    {0, 1},
                        {1, 1},    {2, 1},       {97},          {97, 0, 211}, {1, 1009},
                        {1009, 1}, {16, 16, 16}, {128, 0, 1, 3}};

std::vector<float> uneven_values(const Counts& counts, bool has_ties) {
  Random random(41);
  std::vector<float> values;
  for (std::size_t slice = 0; slice < counts.size(); ++slice) {
    // The largest magnitudes are in the last shards.
    const double scale = std::pow(10.0, static_cast<double>(slice));
    for (std::size_t i = 0; i < counts[slice]; ++i) {
      const double value = random.normal() * scale;
      values.push_back(static_cast<float>(has_ties ? std::round(value) : value));
    }
  }
  return values;
}

struct Sent {
  std::vector<float> sum;
  std::vector<float> residual;
  std::size_t size = 0;
};

// What all ranks send of values + residual, and the new residual.
Sent send_jointly(const Joint& codec, const std::vector<float>& values, std::vector<float> residual,
                  const Counts& counts) {
  const std::size_t k = codec.picked_of(values.size());
  std::vector<float> nominations;
  Counts voters;
  std::size_t begin = 0;
  for (const std::size_t count : counts) {
    const auto own = nominate(std::span(values).subspan(begin, count),
                              std::span(residual).subspan(begin, count), k);
    voters.push_back(own.size());
    nominations.insert(nominations.end(), own.begin(), own.end());
    begin += count;
  }
  Sent all{.sum = std::vector<float>(values.size()), .residual = std::move(residual)};
  begin = 0;
  std::size_t picked = 0;
  for (std::size_t slice = 0; slice < counts.size(); ++slice) {
    const std::size_t count = counts[slice];
    const Draw draw{.quota = quota_of(nominations, voters, slice, k)};
    picked += draw.quota;
    Bytes out(codec.size_max(count, {}));
    out.resize(codec.encode_fed(std::span(values).subspan(begin, count),
                                std::span(all.residual).subspan(begin, count), {}, draw, out));
    EXPECT_LE(out.size(), draw.quota * kPairSize);
    all.size += out.size();
    codec.add(out, {}, std::span(all.sum).subspan(begin, count));
    begin += count;
  }
  EXPECT_EQ(picked, k);
  return all;
}

double squares_of(std::span<const float> values) {
  double all = 0;
  for (const float value : values) all += double{value} * value;
  return all;
}

TEST(CodecJoint, SendsWhatTopKOfTheWholeSends) {
  for (const Counts& counts : kCuts) {
    for (const double ratio : {0.001, 0.1, 0.7, 1.0}) {
      const auto whole = top_k(ratio);
      const auto codec = whole->joint();
      std::vector<float> left(std::accumulate(counts.begin(), counts.end(), std::size_t{0}));
      std::vector<float> expected_left = left;
      // The residual of one step is added in the next.
      for (int step = 0; step < 3; ++step) {
        const std::vector<float> values = uneven_values(counts, /*has_ties=*/false);
        Bytes out(whole->size_max(values.size(), {}));
        whole->encode_fed(values, expected_left, {}, {}, out);
        std::vector<float> expected(values.size());
        whole->add(out, {}, expected);
        const Sent found = send_jointly(*codec, values, left, counts);
        EXPECT_EQ(found.sum, expected) << counts.size() << " slices, ratio " << ratio;
        EXPECT_EQ(found.residual, expected_left);
        EXPECT_LE(found.size, out.size());
        left = found.residual;
      }
    }
  }
}

// Which of several equal magnitudes is sent does not matter: their number and the error must match.
TEST(CodecJoint, OfTiesSendsAsManyAndLosesAsMuch) {
  for (const Counts& counts : kCuts) {
    const std::vector<float> values = uneven_values(counts, /*has_ties=*/true);
    const auto codec = joint_top_k(0.3);
    const Sent found = send_jointly(*codec, values, std::vector<float>(values.size()), counts);
    std::vector<float> sorted = values;
    std::sort(sorted.begin(), sorted.end(),
              [](float a, float b) { return std::fabs(a) > std::fabs(b); });
    const std::size_t k = codec->picked_of(values.size());
    EXPECT_EQ(squares_of(found.sum), squares_of(std::span(sorted).first(k)));
    for (std::size_t i = 0; i < values.size(); ++i) {
      EXPECT_EQ(found.sum[i] + found.residual[i], values[i]);
      EXPECT_TRUE(found.sum[i] == 0 || found.residual[i] == 0);
    }
  }
}

// norm^2 of the error = norm^2 - the k largest squares, at most (1 - k/n) norm^2.
TEST(CodecJoint, LosesWhatTheFormulaSays) {
  for (const Counts& counts : kCuts) {
    const std::vector<float> values = uneven_values(counts, /*has_ties=*/false);
    if (values.empty()) continue;
    for (const double ratio : {0.01, 0.25}) {
      const auto codec = joint_top_k(ratio);
      const auto n = static_cast<double>(values.size());
      const auto k = static_cast<std::size_t>(std::max(1.0, std::ceil(ratio * n)));
      EXPECT_EQ(codec->picked_of(values.size()), k);
      const Sent found = send_jointly(*codec, values, std::vector<float>(values.size()), counts);
      std::vector<float> sorted = values;
      std::sort(sorted.begin(), sorted.end(),
                [](float a, float b) { return std::fabs(a) > std::fabs(b); });
      const double all = squares_of(values);
      const double lost = squares_of(found.residual);
      // The doubles are added in another order.
      EXPECT_NEAR(lost, all - squares_of(std::span(sorted).first(k)), 1e-12 * all);
      EXPECT_LE(lost, (1 - static_cast<double>(k) / n) * all * (1 + 1e-12));
    }
  }
  // If all magnitudes are equal, the bound is attained.
  const std::vector<float> equal(1000, -2.0f);
  const Sent found = send_jointly(*joint_top_k(0.25), equal, std::vector<float>(1000), {300, 700});
  EXPECT_EQ(squares_of(found.residual), 0.75 * squares_of(equal));
}

// The top k of each shard alone would omit most of the large values in the last one.
TEST(CodecJoint, LosesLessThanSlicesByThemselves) {
  const Counts counts{500, 500};
  const std::vector<float> values = uneven_values(counts, /*has_ties=*/false);
  const Sent found = send_jointly(*joint_top_k(0.1), values, std::vector<float>(1000), counts);
  double apart = 0;
  for (const std::size_t begin : {0, 500}) {
    std::vector<float> residual(500);
    Bytes out(top_k(0.1)->size_max(500, {}));
    top_k(0.1)->encode_fed(std::span(values).subspan(begin, 500), residual, {}, {}, out);
    apart += squares_of(residual);
  }
  EXPECT_LT(squares_of(found.residual), 0.8 * apart);
}

TEST(CodecJoint, SendsWhatIsNotFiniteAndKeepsNoneOfIt) {
  constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  for (const Counts& counts : kCuts) {
    std::vector<float> values = uneven_values(counts, /*has_ties=*/false);
    for (const float broken : {kNan, -kNan, kInfinity, -kInfinity}) {
      for (std::size_t at = 0; at < values.size(); at += values.size() / 3 + 1) {
        std::vector<float> poisoned = values;
        poisoned[at] = broken;
        const Sent found =
            send_jointly(*joint_top_k(0.01), poisoned, std::vector<float>(values.size()), counts);
        EXPECT_FALSE(std::isfinite(found.sum[at]));
        for (const float left : found.residual) EXPECT_TRUE(std::isfinite(left));
      }
    }
    // More non-finite values than are sent.
    const Sent found = send_jointly(*joint_top_k(0.01), std::vector<float>(values.size(), kNan),
                                    std::vector<float>(values.size()), counts);
    const auto is_broken = [](float value) { return !std::isfinite(value); };
    EXPECT_EQ(std::any_of(found.sum.begin(), found.sum.end(), is_broken), !values.empty());
    EXPECT_EQ(found.residual, std::vector<float>(values.size()));
  }
}

TEST(CodecJoint, IsNeverMoreBytesThanTheValues) {
  const std::vector<float> values = uneven_values({101}, /*has_ties=*/false);
  const auto codec = joint_top_k(0.5);
  Bytes out(codec->size_max(values.size(), {}));
  for (const std::size_t quota : {0u, 1u, 50u, 51u, 101u}) {
    const std::size_t size = codec->encode(values, {}, {.quota = quota}, out);
    EXPECT_EQ(size, std::min(quota * kPairSize, 4 * values.size()));
    std::vector<float> sum(values.size());
    codec->add({out.data(), size}, {}, sum);
    EXPECT_EQ(static_cast<std::size_t>(
                  std::count_if(sum.begin(), sum.end(), [](float x) { return x != 0; })),
              quota);
  }
  std::vector<float> sum(values.size());
  EXPECT_THROW(codec->add({out.data(), 12}, {}, sum), Error);
  EXPECT_THROW(codec->add(Bytes(4 * values.size() + 4), {}, sum), Error);
}

}  // namespace
}  // namespace trireme::codec
