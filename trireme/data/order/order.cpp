#include "trireme/data/order/order.h"

#include <algorithm>
#include <array>
#include <bit>

#include "trireme/base/check.h"
#include "trireme/base/philox.h"

namespace trireme::data {
namespace {

// Few bits mix slowly: with twelve rounds every permutation of three samples is equally likely, as
// far as a test with thousands of seeds can detect.
constexpr std::uint32_t kRounds = 12;
// Makes these random draws independent of all others from the same seed.
constexpr std::uint32_t kPurpose = 0x4F524445;

using RoundKeys = std::array<std::uint32_t, kRounds>;

RoundKeys keys_of(std::uint64_t seed, std::uint64_t epoch) noexcept {
  RoundKeys keys{};
  for (std::uint32_t i = 0; i < kRounds; i += 4) {
    const PhiloxBlock block = philox(
        philox_key(seed),
        {i, kPurpose, static_cast<std::uint32_t>(epoch), static_cast<std::uint32_t>(epoch >> 32)});
    std::copy(block.begin(), block.end(), keys.begin() + i);
  }
  return keys;
}

constexpr std::uint32_t mask_of(int bits) noexcept {
  return static_cast<std::uint32_t>((std::uint64_t{1} << bits) - 1);
}

// The final step of MurmurHash3: every bit of the sum affects every bit of the result.
constexpr std::uint32_t mixed(std::uint32_t half, std::uint32_t key) noexcept {
  std::uint32_t x = half + key;
  x = (x ^ x >> 16) * 0x85EBCA6B;
  x = (x ^ x >> 13) * 0xC2B2AE35;
  return x ^ x >> 16;
}

// A permutation of the numbers with low_bits + high_bits bits. The halves may have different
// widths: each round changes one half by a function of the other, which is invertible.
std::uint64_t permuted(std::uint64_t value, const RoundKeys& keys, int low_bits,
                       int high_bits) noexcept {
  auto low = static_cast<std::uint32_t>(value) & mask_of(low_bits);
  auto high = static_cast<std::uint32_t>(value >> low_bits);
  for (std::size_t round = 0; round < kRounds; round += 2) {
    high ^= mixed(low, keys[round]) & mask_of(high_bits);
    low ^= mixed(high, keys[round + 1]) & mask_of(low_bits);
  }
  return std::uint64_t{high} << low_bits | low;
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
  const RoundKeys keys = keys_of(seed_, static_cast<std::uint64_t>(epoch));
  // The loop terminates: the cycle of the permutation through k returns to k itself, which is below
  // `count`.
  auto value = static_cast<std::uint64_t>(k);
  do {
    value = permuted(value, keys, low_bits_, high_bits_);
  } while (value >= static_cast<std::uint64_t>(count_));
  return static_cast<std::int64_t>(value);
}

}  // namespace trireme::data
