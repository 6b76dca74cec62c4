// RandomK divides the values into k runs of n/k neighbours and sends one randomly drawn value of
// each run. In one step all ranks draw the same positions, which the draw determines, so only
// values are sent.
//
// Error:         unscaled, the mean error norm^2 = (1 - k/n) norm^2 of the values: use it with
//                error feedback. Scaled by the length of the run (is_scaled), it is unbiased, with
//                a variance of (n/k - 1) x^2 for each value x. If k does not divide n, some runs
//                are longer by one; n/k is then the length of the value's run.
// Non-finite:    if any value is not finite, all values sent are NaN.
// Wire format:   the draw's seed and stream, 8 bytes each, then k = ceil(ratio n) float32.
// Thread safety: pure functions; any thread may call them.

#include <algorithm>
#include <cstring>

#include "trireme/base/check.h"
#include "trireme/base/philox.h"
#include "trireme/codec/codec.h"
#include "trireme/codec/codec_config.h"
#include "trireme/codec/coded_size.h"
#include "trireme/codec/select.h"

namespace trireme::codec {
namespace {

constexpr std::size_t kHead = 2 * sizeof(std::uint64_t);

// Calls `take(index, place, neighbours)` for each of k positions: the values are divided into k
// runs whose lengths differ by at most one, and one value of each run is drawn.
template <class Take>
void for_drawn(std::size_t count, std::size_t k, std::uint64_t seed, std::uint64_t stream,
               Take&& take) {
  PhiloxBlock random{};
  const std::size_t length = k == 0 ? 0 : count / k;
  const std::size_t longer = k == 0 ? 0 : count % k;  // the first `longer` runs have one more value
  std::size_t begin = 0;
  for (std::size_t i = 0; i < k; ++i) {
    if (i % 4 == 0) random = philox(philox_key(seed), philox_counter(i / 4, stream));
    const std::size_t run = length + (i < longer ? 1 : 0);
    take(i, begin + (std::uint64_t{random[i % 4]} * run >> 32), run);
    begin += run;
  }
}

class RandomK final : public Codec {
 public:
  // REQUIRES: 0 < ratio <= 1.
  RandomK(double ratio, bool is_scaled) : ratio_(ratio), is_scaled_(is_scaled) {
    TRIREME_CHECK(ratio > 0 && ratio <= 1, "a share of ", ratio);
  }

  std::size_t size_max(std::size_t count, std::span<const BucketPart>) const override {
    return kHead + count_of_share(count, ratio_) * sizeof(float);
  }

  std::size_t encode(std::span<const float> values, std::span<const BucketPart>, const Draw& draw,
                     std::span<std::byte> out) const override {
    TRIREME_CHECK(values.size() < (std::uint64_t{1} << 32), "random bits draw among 2^32");
    const std::size_t k = count_of_share(values.size(), ratio_);
    std::memcpy(out.data(), &draw.seed, sizeof(draw.seed));
    std::memcpy(out.data() + sizeof(draw.seed), &draw.stream, sizeof(draw.stream));
    // A non-finite value must be detected even if it is not drawn: the sum of all values times zero
    // is NaN in that case.
    float zero = 0;
    for (const float value : values) zero += value * 0.0f;
    for_drawn(values.size(), k, draw.seed, draw.stream,
              [&](std::size_t index, std::size_t place, std::size_t run) {
                const float value =
                    values[place] * (is_scaled_ ? static_cast<float>(run) : 1.0f) + zero;
                std::memcpy(out.data() + kHead + index * sizeof(value), &value, sizeof(value));
              });
    return kHead + k * sizeof(float);
  }

  void add(ByteView coded, std::span<const BucketPart>, std::span<float> sum) const override {
    expect_size(coded, size_max(sum.size(), {}));
    std::uint64_t seed = 0, stream = 0;
    std::memcpy(&seed, coded.data(), sizeof(seed));
    std::memcpy(&stream, coded.data() + sizeof(seed), sizeof(stream));
    for_drawn(sum.size(), count_of_share(sum.size(), ratio_), seed, stream,
              [&](std::size_t index, std::size_t place, std::size_t) {
                float value = 0;
                std::memcpy(&value, coded.data() + kHead + index * sizeof(value), sizeof(value));
                sum[place] += value;
              });
  }

  bool is_unbiased() const override { return is_scaled_; }

 private:
  double ratio_;
  bool is_scaled_;
};

}  // namespace

std::shared_ptr<const Codec> make_random_k(const CodecConfig& config) {
  // With error feedback, values that are not drawn are sent later; without it, drawn values are
  // scaled up to represent them.
  return std::make_shared<RandomK>(config.ratio, !config.has_error_feedback);
}

}  // namespace trireme::codec
