// TopK sends the given fraction of values with the largest magnitude, exactly, and their positions.
//
// Error:         norm^2 <= (1 - k/n) norm^2 of the values, where k = ceil(ratio n). Biased: use it
//                with error feedback, which sends the remaining values later.
// Non-finite:    NaN and infinity count as the largest values, so they are sent.
// Wire format:   k indices in ascending order, 4 bytes each, then k float32.
// Thread safety: pure functions; any thread may call them.

#include <cmath>
#include <cstring>
#include <limits>

#include "trireme/base/check.h"
#include "trireme/codec/codec.h"
#include "trireme/codec/codec_config.h"
#include "trireme/codec/coded_size.h"
#include "trireme/codec/joint.h"
#include "trireme/codec/pairs.h"
#include "trireme/codec/select.h"

namespace trireme::codec {
namespace {

// Writes the values of the quota as pairs, or all values if that takes fewer bytes. `took` is
// called for each value sent and may change it.
template <class Took>
std::size_t send(std::span<const float> values, std::size_t quota, std::span<std::byte> out,
                 Took&& took) {
  TRIREME_CHECK(values.size() <= std::numeric_limits<std::uint32_t>::max(), "places have 32 bits");
  TRIREME_CHECK(quota <= values.size(), quota, " of ", values.size(), " values");
  const std::size_t whole = values.size() * sizeof(float);
  if (quota * kPairSize >= whole) {
    if (whole > 0) std::memset(out.data(), 0, whole);
    for_largest(values, quota, [&](std::size_t i) {
      std::memcpy(out.data() + i * sizeof(float), &values[i], sizeof(float));
      took(i);
    });
    return whole;
  }
  PairWriter writer(out, quota);
  for_largest(values, quota, [&](std::size_t i) {
    writer.put(i, values[i]);
    took(i);
  });
  return quota * kPairSize;
}

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
class JointTopK final : public Joint {
 public:
  // REQUIRES: 0 < ratio <= 1.
  explicit JointTopK(double ratio) : ratio_(ratio) {
    TRIREME_CHECK(ratio > 0 && ratio <= 1, "a share of ", ratio);
  }

  std::size_t picked_of(std::size_t count) const override { return count_of_share(count, ratio_); }

  std::size_t size_max(std::size_t count, std::span<const BucketPart>) const override {
    return count * sizeof(float);
  }
  bool is_fixed_size() const override { return false; }
  std::size_t encode(std::span<const float> values, std::span<const BucketPart>, const Draw& draw,
                     std::span<std::byte> out) const override {
    return send(values, draw.quota, out, [](std::size_t) {});
  }

  void add(ByteView coded, std::span<const BucketPart>, std::span<float> sum) const override {
    add_pairs_or_all(coded, sum);
  }

  std::size_t encode_fed(std::span<const float> values, std::span<float> residual,
                         std::span<const BucketPart>, const Draw& draw,
                         std::span<std::byte> out) const override {
    TRIREME_CHECK_EQ(values.size(), residual.size(), "values and their residual");
    for (std::size_t i = 0; i < values.size(); ++i) residual[i] += values[i];
    // Sent values are exact, so their residual is zero.
    const std::size_t size =
        send(residual, draw.quota, out, [&](std::size_t i) { residual[i] = 0; });
    for (float& left : residual) {
      if (!std::isfinite(left)) left = 0;
    }
    return size;
  }

  bool is_unbiased() const override { return false; }

 private:
  double ratio_;
};

class TopK final : public Codec {
 public:
  // REQUIRES: 0 < ratio <= 1.
  explicit TopK(double ratio) : ratio_(ratio) {
    TRIREME_CHECK(ratio > 0 && ratio <= 1, "a share of ", ratio);
  }

  std::size_t size_max(std::size_t count, std::span<const BucketPart>) const override {
    return count_of_share(count, ratio_) * kPairSize;
  }

  std::size_t encode(std::span<const float> values, std::span<const BucketPart>, const Draw&,
                     std::span<std::byte> out) const override {
    TRIREME_CHECK(values.size() <= std::numeric_limits<std::uint32_t>::max(),
                  "places have 32 bits");
    const std::size_t k = count_of_share(values.size(), ratio_);
    PairWriter writer(out, k);
    for_largest(values, k, [&](std::size_t i) { writer.put(i, values[i]); });
    return k * kPairSize;
  }

  void add(ByteView coded, std::span<const BucketPart>, std::span<float> sum) const override {
    expect_size(coded, size_max(sum.size(), {}));
    add_pairs(coded, sum);
  }

  std::size_t encode_fed(std::span<const float> values, std::span<float> residual,
                         std::span<const BucketPart>, const Draw&,
                         std::span<std::byte> out) const override {
    TRIREME_CHECK_EQ(values.size(), residual.size(), "values and their residual");
    TRIREME_CHECK(values.size() <= std::numeric_limits<std::uint32_t>::max(),
                  "places have 32 bits");
    const std::size_t k = count_of_share(values.size(), ratio_);
    bool is_finite = true;
    for (std::size_t i = 0; i < values.size(); ++i) {
      residual[i] += values[i];
      is_finite &= magnitude_bits(residual[i]) < 0x7f800000u;
    }
    PairWriter writer(out, k);
    // Sent values are exact, so their residual is zero.
    for_largest(residual, k, [&](std::size_t i) {
      writer.put(i, residual[i]);
      residual[i] = 0;
    });
    for (std::size_t i = 0; !is_finite && i < residual.size(); ++i) {
      if (!std::isfinite(residual[i])) residual[i] = 0;
    }
    return k * kPairSize;
  }

  bool is_unbiased() const override { return false; }
  std::shared_ptr<const Joint> joint() const override {
    return std::make_shared<JointTopK>(ratio_);
  }

 private:
  double ratio_;
};

}  // namespace

std::shared_ptr<const Codec> make_top_k(const CodecConfig& config) {
  return std::make_shared<TopK>(config.ratio);
}

}  // namespace trireme::codec
