#include "trireme/data/order.h"

#include <bit>

#include "trireme/base/check.h"
#include "trireme/base/philox.h"

namespace trireme::data {
namespace {

// Few bits mix slowly: with a dozen rounds every permutation of three samples is equally likely as
// far as a test of thousands of seeds can tell.
constexpr std::uint32_t kRounds = 12;
// Sets these draws apart from all others that a seed is used for.
constexpr std::uint32_t kPurpose = 0x4F524445;

constexpr std::uint64_t mask_of(int bits) noexcept {
  return (std::uint64_t{1} << bits) - 1;
}

std::uint64_t round_of(std::uint64_t seed, std::uint64_t epoch, std::uint32_t round,
                       std::uint64_t half) noexcept {
  const PhiloxCounter counter{static_cast<std::uint32_t>(half), kPurpose + round,
                              static_cast<std::uint32_t>(epoch),
                              static_cast<std::uint32_t>(epoch >> 32)};
  return philox(philox_key(seed), counter)[0];
}

}  // namespace

Order::Order(std::uint64_t seed, std::int64_t count, bool is_shuffled)
    : seed_(seed), count_(count), is_shuffled_(is_shuffled) {
  TRIREME_CHECK(count >= 0, "an order of ", count, " samples");
  if (count > 1) {
    const int bits = std::bit_width(static_cast<std::uint64_t>(count - 1));
    low_bits_ = (bits + 1) / 2;
    high_bits_ = bits / 2;
  }
}

std::int64_t Order::sample(std::int64_t epoch, std::int64_t k) const {
  TRIREME_CHECK(k >= 0 && k < count_, "place ", k, " of an epoch of ", count_, " samples");
  if (!is_shuffled_ || count_ == 1) return k;
  // The walk ends: a permutation's cycle through k comes back to k itself, which is small enough.
  auto value = static_cast<std::uint64_t>(k);
  do {
    value = permute(static_cast<std::uint64_t>(epoch), value);
  } while (value >= static_cast<std::uint64_t>(count_));
  return static_cast<std::int64_t>(value);
}

// Halves of different widths are no obstacle: each round changes one by a function of the other,
// which undoes itself.
std::uint64_t Order::permute(std::uint64_t epoch, std::uint64_t value) const noexcept {
  std::uint64_t low = value & mask_of(low_bits_);
  std::uint64_t high = value >> low_bits_;
  for (std::uint32_t round = 0; round < kRounds; round += 2) {
    high ^= round_of(seed_, epoch, round, low) & mask_of(high_bits_);
    low ^= round_of(seed_, epoch, round + 1, high) & mask_of(low_bits_);
  }
  return high << low_bits_ | low;
}

}  // namespace trireme::data
