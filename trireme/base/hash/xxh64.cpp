#include "trireme/base/hash/xxh64.h"

#include <algorithm>
#include <bit>
#include <cstring>

namespace trireme {
namespace {

constexpr std::uint64_t kPrime1 = 0x9E3779B185EBCA87ULL;
constexpr std::uint64_t kPrime2 = 0xC2B2AE3D27D4EB4FULL;
constexpr std::uint64_t kPrime3 = 0x165667B19E3779F9ULL;
constexpr std::uint64_t kPrime4 = 0x85EBCA77C2B2AE63ULL;
constexpr std::uint64_t kPrime5 = 0x27D4EB2F165667C5ULL;

template <class T>
T load(const std::byte* at) noexcept {
  T value;
  std::memcpy(&value, at, sizeof(T));
  return value;
}

constexpr std::uint64_t round(std::uint64_t lane, std::uint64_t word) noexcept {
  return std::rotl(lane + word * kPrime2, 31) * kPrime1;
}

constexpr std::uint64_t merge(std::uint64_t hash, std::uint64_t lane) noexcept {
  return (hash ^ round(0, lane)) * kPrime1 + kPrime4;
}

// Processes the last bytes (less than a stripe) and the final mixing.
std::uint64_t finish(std::uint64_t hash, ByteView rest) noexcept {
  const std::byte* at = rest.data();
  std::size_t left = rest.size();
  for (; left >= 8; at += 8, left -= 8) {
    hash = std::rotl(hash ^ round(0, load<std::uint64_t>(at)), 27) * kPrime1 + kPrime4;
  }
  if (left >= 4) {
    hash = std::rotl(hash ^ (load<std::uint32_t>(at) * kPrime1), 23) * kPrime2 + kPrime3;
    at += 4;
    left -= 4;
  }
  for (; left > 0; ++at, --left) {
    hash = std::rotl(hash ^ (std::to_integer<std::uint64_t>(*at) * kPrime5), 11) * kPrime1;
  }
  hash = (hash ^ (hash >> 33)) * kPrime2;
  hash = (hash ^ (hash >> 29)) * kPrime3;
  return hash ^ (hash >> 32);
}

}  // namespace

Xxh64::Xxh64(std::uint64_t seed) noexcept
    : seed_(seed),
      lanes_{seed + kPrime1 + kPrime2, seed + kPrime2, seed, seed - kPrime1},
      rest_{} {}

void Xxh64::mix(const std::byte* stripe) noexcept {
  for (std::size_t lane = 0; lane < lanes_.size(); ++lane) {
    lanes_[lane] = round(lanes_[lane], load<std::uint64_t>(stripe + 8 * lane));
  }
}

Xxh64& Xxh64::update(ByteView bytes) noexcept {
  const std::size_t held = size_ % kStripeSize;
  size_ += bytes.size();
  if (held > 0) {
    const std::size_t taken = std::min(kStripeSize - held, bytes.size());
    std::memcpy(rest_.data() + held, bytes.data(), taken);
    bytes = bytes.subspan(taken);
    if (held + taken < kStripeSize) return *this;
    mix(rest_.data());
  }
  for (; bytes.size() >= kStripeSize; bytes = bytes.subspan(kStripeSize)) mix(bytes.data());
  if (!bytes.empty()) std::memcpy(rest_.data(), bytes.data(), bytes.size());
  return *this;
}

std::uint64_t Xxh64::digest() const noexcept {
  std::uint64_t hash = seed_ + kPrime5;
  if (size_ >= kStripeSize) {
    hash = std::rotl(lanes_[0], 1) + std::rotl(lanes_[1], 7) + std::rotl(lanes_[2], 12) +
           std::rotl(lanes_[3], 18);
    for (const std::uint64_t lane : lanes_) hash = merge(hash, lane);
  }
  return finish(hash + size_, ByteView(rest_).first(size_ % kStripeSize));
}

std::uint64_t xxh64(ByteView message, std::uint64_t seed) noexcept {
  return Xxh64(seed).update(message).digest();
}

}  // namespace trireme
