// Threshold sends the values whose magnitude exceeds `factor` times the root mean square of the
// bucket, and their positions. The number of values sent depends on the gradients: it is small if a
// few values are far larger than the rest.
//
// Error:         |error| <= factor * rms. With error feedback, rms is that of the new values
//                without the residual, so that the residual stays bounded too. Biased: use it with
//                error feedback.
// Non-finite:    the first NaN or infinity is sent, and nothing else.
// Wire format:   the selected values as pairs (trireme/codec/pairs.h), or all values if that is
//                smaller.
// Thread safety: pure functions; any thread may call them.

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include "trireme/base/check.h"
#include "trireme/codec/codec.h"
#include "trireme/codec/codec_config.h"
#include "trireme/codec/pairs.h"

namespace trireme::codec {
namespace {

// Uses several partial sums, so that the compiler can vectorize the loop.
double sum_of_squares(std::span<const float> values) {
  constexpr std::size_t kLanes = 8;
  double lanes[kLanes] = {};
  const std::size_t whole = values.size() / kLanes * kLanes;
  for (std::size_t i = 0; i < whole; i += kLanes) {
    for (std::size_t j = 0; j < kLanes; ++j) {
      lanes[j] += static_cast<double>(values[i + j]) * values[i + j];
    }
  }
  for (std::size_t i = whole; i < values.size(); ++i) {
    lanes[0] += static_cast<double>(values[i]) * values[i];
  }
  double all = 0;
  for (const double lane : lanes) all += lane;
  return all;
}

// Writes the values above the cut as pairs, or all values if that takes fewer bytes.
std::size_t send(std::span<const float> values, float cut, std::span<std::byte> out) {
  TRIREME_CHECK(values.size() <= std::numeric_limits<std::uint32_t>::max(), "places have 32 bits");
  const std::size_t whole = values.size() * sizeof(float);
  const auto is_broken = [](float value) { return !std::isfinite(value); };
  const auto broken =
      std::isfinite(cut) ? values.end() : std::find_if(values.begin(), values.end(), is_broken);
  if (broken != values.end() && whole > kPairSize) {
    PairWriter(out, 1).put(static_cast<std::size_t>(broken - values.begin()), *broken);
    return kPairSize;
  }
  std::size_t count = 0;
  for (const float value : values) count += std::fabs(value) > cut ? 1 : 0;
  if (broken != values.end() || count * kPairSize >= whole) {
    if (whole > 0) std::memcpy(out.data(), values.data(), whole);
    return whole;
  }
  PairWriter writer(out, count);
  for (std::size_t i = 0; writer.count() < count; ++i) {
    if (std::fabs(values[i]) > cut) writer.put(i, values[i]);
  }
  return count * kPairSize;
}

class Threshold final : public Codec {
 public:
  // REQUIRES: factor > 0.
  explicit Threshold(double factor) : factor_(factor) {
    TRIREME_CHECK(factor > 0, "a factor of ", factor);
  }

  std::size_t size_max(std::size_t count, std::span<const BucketPart>) const override {
    return count * sizeof(float);
  }
  bool is_fixed_size() const override { return false; }
  std::size_t encode(std::span<const float> values, std::span<const BucketPart>, const Draw&,
                     std::span<std::byte> out) const override {
    return send(values, cut_of(values), out);
  }

  void add(ByteView coded, std::span<const BucketPart>, std::span<float> sum) const override {
    add_pairs_or_all(coded, sum);
  }

  std::size_t encode_fed(std::span<const float> values, std::span<float> residual,
                         std::span<const BucketPart>, const Draw&,
                         std::span<std::byte> out) const override {
    TRIREME_CHECK_EQ(values.size(), residual.size(), "values and their residual");
    const float cut = cut_of(values);
    for (std::size_t i = 0; i < values.size(); ++i) residual[i] += values[i];
    const std::size_t size = send(residual, cut, out);
    const bool is_whole = size == values.size() * sizeof(float);
    // Sent values are exact, so their residual is zero. After a non-finite step, the whole residual
    // is reset.
    const bool is_broken = !std::isfinite(cut);
    for (float& left : residual) {
      if (is_whole || is_broken || std::fabs(left) > cut) left = 0;
    }
    return size;
  }

  bool is_unbiased() const override { return false; }

 private:
  // Infinity or NaN if the values are not finite.
  float cut_of(std::span<const float> values) const {
    if (values.empty()) return 0;
    const double mean = sum_of_squares(values) / static_cast<double>(values.size());
    const double cut = factor_ * std::sqrt(mean);
    // The squares of floats fit in a double: a cut beyond the range of float does not mean that a
    // value is not finite.
    constexpr double kMost = std::numeric_limits<float>::max();
    return static_cast<float>(std::isfinite(cut) ? std::min(cut, kMost) : cut);
  }

  double factor_;
};

}  // namespace

std::shared_ptr<const Codec> make_threshold(const CodecConfig& config) {
  return std::make_shared<Threshold>(config.threshold);
}

}  // namespace trireme::codec
