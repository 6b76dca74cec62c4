#include "trireme/codec/codec.h"

#include <cmath>

#include "trireme/base/check.h"

namespace trireme::codec {

// The generic implementation for any codec; performance-critical codecs override it with one pass.
std::size_t Codec::encode_fed(std::span<const float> values, std::span<float> residual,
                              std::span<const BucketPart> parts, const Draw& draw,
                              std::span<std::byte> out) const {
  TRIREME_CHECK_EQ(values.size(), residual.size(), "values and their residual");
  for (std::size_t i = 0; i < values.size(); ++i) residual[i] += values[i];
  const std::size_t size = encode(residual, parts, draw, out);
  std::vector<float> decoded(values.size());
  add(out.first(size), parts, decoded);
  for (std::size_t i = 0; i < values.size(); ++i) {
    const float lost = residual[i] - decoded[i];
    residual[i] = std::isfinite(lost) ? lost : 0;
  }
  return size;
}

}  // namespace trireme::codec
