#include "trireme/codec/joint_top_k.h"

#include <cmath>
#include <cstring>
#include <limits>

#include "trireme/base/check.h"
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

}  // namespace

JointTopK::JointTopK(double ratio) : ratio_(ratio) {
  TRIREME_CHECK(ratio > 0 && ratio <= 1, "a share of ", ratio);
}

std::size_t JointTopK::picked_of(std::size_t count) const {
  return count_of_share(count, ratio_);
}

std::size_t JointTopK::encode(std::span<const float> values, std::span<const Part>,
                              const Draw& draw, std::span<std::byte> out) const {
  return send(values, draw.quota, out, [](std::size_t) {});
}

std::size_t JointTopK::encode_fed(std::span<const float> values, std::span<float> residual,
                                  std::span<const Part>, const Draw& draw,
                                  std::span<std::byte> out) const {
  TRIREME_CHECK_EQ(values.size(), residual.size(), "values and their residual");
  for (std::size_t i = 0; i < values.size(); ++i) residual[i] += values[i];
  // Sent values are exact, so their residual is zero.
  const std::size_t size = send(residual, draw.quota, out, [&](std::size_t i) { residual[i] = 0; });
  for (float& left : residual) {
    if (!std::isfinite(left)) left = 0;
  }
  return size;
}

void JointTopK::add(ByteView coded, std::span<const Part>, std::span<float> sum) const {
  add_pairs_or_all(coded, sum);
}

}  // namespace trireme::codec
