#include "trireme/model/layer/kernel/dropout.h"

#include <ATen/Parallel.h>
#include <c10/util/BFloat16.h>
#include <c10/util/Half.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "trireme/base/check.h"

#if defined(__x86_64__) && defined(__GNUC__) && !defined(__SANITIZE_THREAD__)
#define TRIREME_WIDE __attribute__((target_clones("avx512f", "avx2", "default")))
#else
#define TRIREME_WIDE
#endif

namespace trireme::model::kernel {
namespace {

// Makes these streams independent of those of parameters and data, which share the seed.
constexpr std::uint64_t kPurpose = 0x64726F706F757421;
constexpr std::int64_t kGroup = kDropoutGroup;

// Computes elements [group * kGroup, + kGroup) of a sample. Every loop is over lanes and becomes
// one vector instruction.
TRIREME_WIDE void make_group(PhiloxKey key, std::uint32_t first, std::uint32_t place,
                             std::uint32_t c2, std::uint32_t c3, std::uint32_t threshold,
                             float scale, float* out) {
  std::uint32_t a[kDropoutLanes], b[kDropoutLanes], c[kDropoutLanes], d[kDropoutLanes];
  for (int i = 0; i < kDropoutLanes; ++i) {
    a[i] = first + static_cast<std::uint32_t>(i);
    b[i] = place;
    c[i] = c2;
    d[i] = c3;
  }
  for (int round = 0; round < 10; ++round) {
    for (int i = 0; i < kDropoutLanes; ++i) {
      const std::uint64_t x = std::uint64_t{0xD2511F53} * a[i];
      const std::uint64_t y = std::uint64_t{0xCD9E8D57} * c[i];
      a[i] = static_cast<std::uint32_t>(y >> 32) ^ b[i] ^ key[0];
      b[i] = static_cast<std::uint32_t>(y);
      c[i] = static_cast<std::uint32_t>(x >> 32) ^ d[i] ^ key[1];
      d[i] = static_cast<std::uint32_t>(x);
    }
    key[0] += 0x9E3779B9;
    key[1] += 0xBB67AE85;
  }
  const std::uint32_t* words[4] = {a, b, c, d};
  for (int word = 0; word < 4; ++word) {
    const std::uint32_t* bits = words[word];
    float* low = out + static_cast<std::ptrdiff_t>(2 * word) * kDropoutLanes;
    float* high = low + kDropoutLanes;
    for (int i = 0; i < kDropoutLanes; ++i) low[i] = (bits[i] & 0xFFFF) < threshold ? 0.0f : scale;
    for (int i = 0; i < kDropoutLanes; ++i) high[i] = (bits[i] >> 16) < threshold ? 0.0f : scale;
  }
}

template <class T>
void drop_rows(const DropoutMask& mask, const DropoutRows& all) {
  const T* from = static_cast<const T*>(all.from);
  T* to = static_cast<T*>(all.to);
  const std::int64_t columns = all.columns;
  const std::int64_t groups = (columns + kGroup - 1) / kGroup;
  at::parallel_for(0, all.rows * groups, 64, [&](std::int64_t begin, std::int64_t end) {
    std::array<float, kGroup> factors;
    for (std::int64_t i = begin; i < end; ++i) {
      const std::int64_t row = i / groups, column = i % groups * kGroup;
      const std::int64_t count = std::min(kGroup, columns - column);
      const std::int64_t place = all.places == nullptr ? row : all.places[row];
      dropout_factors(mask, place, all.first + column, count, factors.data());
      const T* x = from + row * columns + column;
      T* y = to + row * columns + column;
      for (std::int64_t k = 0; k < count; ++k) y[k] = x[k] * static_cast<T>(factors[k]);
    }
  });
}

}  // namespace

DropoutMask DropoutMask::of(std::uint64_t seed, std::int64_t step, int layer, double p) {
  const auto number = static_cast<std::uint64_t>(step);
  const auto threshold = static_cast<std::uint32_t>(std::lround(p * 65536));
  return {.key = philox_key(seed ^ kPurpose),
          .step = static_cast<std::uint32_t>(number),
          .layer = static_cast<std::uint32_t>(number >> 32 << 16 | (layer & 0xFFFF)),
          .threshold = threshold,
          .scale = 65536.0f / (65536.0f - static_cast<float>(threshold))};
}

void dropout_factors(const DropoutMask& mask, std::int64_t place, std::int64_t begin,
                     std::int64_t count, float* out) {
  std::array<float, kGroup> group;
  for (std::int64_t at = begin / kGroup * kGroup; at < begin + count; at += kGroup) {
    const std::int64_t from = std::max(at, begin), to = std::min(at + kGroup, begin + count);
    const bool is_whole = to - from == kGroup;
    float* target = is_whole ? out + (from - begin) : group.data();
    make_group(mask.key, static_cast<std::uint32_t>(at / kDropoutBits),
               static_cast<std::uint32_t>(place), mask.step, mask.layer, mask.threshold, mask.scale,
               target);
    if (!is_whole) std::copy(target + (from - at), target + (to - at), out + (from - begin));
  }
}

void drop(const DropoutMask& mask, const DropoutRows& all) {
  switch (all.type) {
    case comm::DType::Float64:
      return drop_rows<double>(mask, all);
    case comm::DType::Float32:
      return drop_rows<float>(mask, all);
    case comm::DType::Float16:
      return drop_rows<c10::Half>(mask, all);
    case comm::DType::BFloat16:
      return drop_rows<c10::BFloat16>(mask, all);
    default:
      TRIREME_CHECK(false, "dropout of ", comm::name_of(all.type));
  }
}

}  // namespace trireme::model::kernel
