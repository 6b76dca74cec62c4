#include "trireme/codec/top_k.h"

#include <cmath>
#include <limits>

#include "trireme/base/check.h"
#include "trireme/codec/coded_size.h"
#include "trireme/codec/joint_top_k.h"
#include "trireme/codec/pairs.h"
#include "trireme/codec/select.h"

namespace trireme::codec {

TopK::TopK(double ratio) : ratio_(ratio) {
  TRIREME_CHECK(ratio > 0 && ratio <= 1, "a share of ", ratio);
}

std::size_t TopK::size_max(std::size_t count, std::span<const Part>) const {
  return count_of_share(count, ratio_) * kPairSize;
}

std::size_t TopK::encode(std::span<const float> values, std::span<const Part>, const Draw&,
                         std::span<std::byte> out) const {
  TRIREME_CHECK(values.size() <= std::numeric_limits<std::uint32_t>::max(), "places have 32 bits");
  const std::size_t k = count_of_share(values.size(), ratio_);
  PairWriter writer(out, k);
  for_largest(values, k, [&](std::size_t i) { writer.put(i, values[i]); });
  return k * kPairSize;
}

std::size_t TopK::encode_fed(std::span<const float> values, std::span<float> residual,
                             std::span<const Part>, const Draw&, std::span<std::byte> out) const {
  TRIREME_CHECK_EQ(values.size(), residual.size(), "values and their residual");
  TRIREME_CHECK(values.size() <= std::numeric_limits<std::uint32_t>::max(), "places have 32 bits");
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

std::shared_ptr<const Joint> TopK::joint() const {
  return std::make_shared<JointTopK>(ratio_);
}

void TopK::add(ByteView coded, std::span<const Part>, std::span<float> sum) const {
  expect_size(coded, size_max(sum.size(), {}));
  add_pairs(coded, sum);
}

}  // namespace trireme::codec
