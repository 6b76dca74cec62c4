#include "trireme/base/hash/sha256.h"

#include <algorithm>
#include <bit>
#include <cstring>

namespace trireme {
namespace {

// The first 32 bits of the fractional parts of the cube roots of the first 64 primes.
constexpr std::array<std::uint32_t, 64> kRound{
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
    0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
    0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
    0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2};

std::uint32_t load_big_endian(const std::byte* at) {
  std::uint32_t word;
  std::memcpy(&word, at, sizeof(word));
  return __builtin_bswap32(word);
}

void store_big_endian(std::byte* at, std::uint32_t word) {
  word = __builtin_bswap32(word);
  std::memcpy(at, &word, sizeof(word));
}

void compress(std::array<std::uint32_t, 8>& state, const std::byte* block) {
  std::array<std::uint32_t, 64> w;
  for (std::size_t t = 0; t < 16; ++t) w[t] = load_big_endian(block + 4 * t);
  for (int t = 16; t < 64; ++t) {
    const std::uint32_t s0 = std::rotr(w[t - 15], 7) ^ std::rotr(w[t - 15], 18) ^ (w[t - 15] >> 3);
    const std::uint32_t s1 = std::rotr(w[t - 2], 17) ^ std::rotr(w[t - 2], 19) ^ (w[t - 2] >> 10);
    w[t] = w[t - 16] + s0 + w[t - 7] + s1;
  }
  auto [a, b, c, d, e, f, g, h] = state;
  for (int t = 0; t < 64; ++t) {
    const std::uint32_t sum1 = std::rotr(e, 6) ^ std::rotr(e, 11) ^ std::rotr(e, 25);
    const std::uint32_t choice = (e & f) ^ (~e & g);
    const std::uint32_t t1 = h + sum1 + choice + kRound[t] + w[t];
    const std::uint32_t sum0 = std::rotr(a, 2) ^ std::rotr(a, 13) ^ std::rotr(a, 22);
    const std::uint32_t majority = (a & b) ^ (a & c) ^ (b & c);
    h = g, g = f, f = e, e = d + t1;
    d = c, c = b, b = a, a = t1 + sum0 + majority;
  }
  const std::array<std::uint32_t, 8> after{a, b, c, d, e, f, g, h};
  for (int i = 0; i < 8; ++i) state[i] += after[i];
}

}  // namespace

// The first 32 bits of the fractional parts of the square roots of the first eight primes.
Sha256::Sha256() noexcept
    : state_{0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
             0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19} {}

Sha256& Sha256::update(ByteView bytes) noexcept {
  const std::size_t held = size_ % kBlockSize;
  size_ += bytes.size();
  if (held > 0) {
    const std::size_t taken = std::min(bytes.size(), kBlockSize - held);
    std::copy_n(bytes.begin(), taken, block_.begin() + held);
    if (held + taken < kBlockSize) return *this;
    compress(state_, block_.data());
    bytes = bytes.subspan(taken);
  }
  while (bytes.size() >= kBlockSize) {
    compress(state_, bytes.data());
    bytes = bytes.subspan(kBlockSize);
  }
  std::copy(bytes.begin(), bytes.end(), block_.begin());
  return *this;
}

Sha256Digest Sha256::digest() const noexcept {
  // The padding: a 1 bit, then zeros, then the message length in bits at the end of the last block.
  std::array<std::byte, 2 * kBlockSize> padding{};
  padding[0] = std::byte{0x80};
  const std::size_t held = size_ % kBlockSize;
  const std::size_t zeros_end = (held < 56 ? kBlockSize : 2 * kBlockSize) - held - 8;
  store_big_endian(&padding[zeros_end], static_cast<std::uint32_t>(size_ >> 29));
  store_big_endian(&padding[zeros_end + 4], static_cast<std::uint32_t>(size_ << 3));
  Sha256 copy = *this;
  copy.update(ByteView(padding).first(zeros_end + 8));

  Sha256Digest out;
  for (std::size_t i = 0; i < 8; ++i) store_big_endian(&out[4 * i], copy.state_[i]);
  return out;
}

Sha256Digest sha256(ByteView message) noexcept {
  return Sha256().update(message).digest();
}

Sha256Digest hmac_sha256(ByteView key, ByteView message) noexcept {
  Sha256Digest short_key;
  if (key.size() > 64) {
    short_key = sha256(key);
    key = short_key;
  }
  std::array<std::byte, 64> inner{};
  std::copy(key.begin(), key.end(), inner.begin());
  std::array<std::byte, 64> outer = inner;
  for (std::byte& b : inner) b ^= std::byte{0x36};
  for (std::byte& b : outer) b ^= std::byte{0x5c};
  const Sha256Digest inside = Sha256().update(inner).update(message).digest();
  return Sha256().update(outer).update(inside).digest();
}

bool equal_in_constant_time(ByteView a, ByteView b) noexcept {
  if (a.size() != b.size()) return false;
  // Volatile, so that the compiler cannot end the loop early.
  volatile unsigned char difference = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    difference = difference | std::to_integer<unsigned char>(a[i] ^ b[i]);
  }
  return difference == 0;
}

}  // namespace trireme
