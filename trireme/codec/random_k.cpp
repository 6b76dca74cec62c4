#include "trireme/codec/random_k.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "trireme/base/check.h"
#include "trireme/base/philox.h"
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

}  // namespace

RandomK::RandomK(double ratio, bool is_scaled) : ratio_(ratio), is_scaled_(is_scaled) {
  TRIREME_CHECK(ratio > 0 && ratio <= 1, "a share of ", ratio);
}

std::size_t RandomK::size_max(std::size_t count, std::span<const Part>) const {
  return kHead + count_of_share(count, ratio_) * sizeof(float);
}

std::size_t RandomK::encode(std::span<const float> values, std::span<const Part>, const Draw& draw,
                            std::span<std::byte> out) const {
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

void RandomK::add(ByteView coded, std::span<const Part>, std::span<float> sum) const {
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

}  // namespace trireme::codec
