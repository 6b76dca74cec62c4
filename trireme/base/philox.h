// Philox4x32-10 (Salmon, Moraes, Dror, Shaw: "Parallel random numbers: as easy as 1, 2, 3", 2011):
// 128 random bits as a pure function of a 64-bit key and a 128-bit counter.
//
// It is stateless and independent of the order of calls, so every rank can compute the same bits
// for the same sample, layer or parameter without communication. The same function on a GPU gives
// the same bits.
//
// Thread safety: pure functions; any thread may call them.
// Security:      not for secrets; use trireme/base/entropy.h.

#pragma once

#include <array>
#include <cstdint>

namespace trireme {

using PhiloxKey = std::array<std::uint32_t, 2>;
using PhiloxCounter = std::array<std::uint32_t, 4>;
using PhiloxBlock = std::array<std::uint32_t, 4>;

// The key for a seed.
constexpr PhiloxKey philox_key(std::uint64_t seed) noexcept {
  return {static_cast<std::uint32_t>(seed), static_cast<std::uint32_t>(seed >> 32)};
}

// The counter of block `index` of `stream`; distinct pairs give distinct counters.
constexpr PhiloxCounter philox_counter(std::uint64_t index, std::uint64_t stream) noexcept {
  return {static_cast<std::uint32_t>(index), static_cast<std::uint32_t>(index >> 32),
          static_cast<std::uint32_t>(stream), static_cast<std::uint32_t>(stream >> 32)};
}

constexpr PhiloxBlock philox(PhiloxKey key, PhiloxCounter counter) noexcept {
  for (int round = 0; round < 10; ++round) {
    const std::uint64_t a = std::uint64_t{0xD2511F53} * counter[0];
    const std::uint64_t b = std::uint64_t{0xCD9E8D57} * counter[2];
    counter = {
        static_cast<std::uint32_t>(b >> 32) ^ counter[1] ^ key[0], static_cast<std::uint32_t>(b),
        static_cast<std::uint32_t>(a >> 32) ^ counter[3] ^ key[1], static_cast<std::uint32_t>(a)};
    key[0] += 0x9E3779B9;
    key[1] += 0xBB67AE85;
  }
  return counter;
}

// Converts random bits to a number in [0, 1); all multiples of the smallest step are equally
// likely.
constexpr float uniform_float(std::uint32_t bits) noexcept {
  return static_cast<float>(bits >> 8) * 0x1p-24f;
}
constexpr double uniform_double(std::uint64_t bits) noexcept {
  return static_cast<double>(bits >> 11) * 0x1p-53;
}

}  // namespace trireme
