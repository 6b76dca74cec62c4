#include "trireme/comm/kernel/combine.h"

#include <bit>
#include <cstdint>
#include <type_traits>

// Clang has no pragma that sets the instruction set of a section of code; it builds only the
// baseline.
#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__)
#define TRIREME_COMBINE_HAS_X86 1
#include <immintrin.h>
#endif

#include "trireme/base/check.h"
#include "trireme/comm/kernel/half.h"

// GCC vectorizes these loops only at -O3; the rest of the library is built at -O2.
#pragma GCC optimize("O3")

namespace trireme::comm {
namespace {

// A block of accumulators stays in the first-level cache beside the lines of the sources.
constexpr std::size_t kBlock = 512;

struct Float16 {
  std::uint16_t bits;
};
struct BFloat16 {
  std::uint16_t bits;
};

template <class T>
using Wide = std::conditional_t<std::is_arithmetic_v<T>, T, float>;

}  // namespace

// Each instruction set has its own copy of the loops, under its own name. A shared inline function
// could otherwise be emitted with instructions that another machine does not support.
#define TRIREME_COMBINE_PRIMITIVES                                                              \
  inline float from_bits(std::uint32_t bits) {                                                  \
    return __builtin_bit_cast(float, bits);                                                     \
  }                                                                                             \
  inline std::uint32_t to_bits(float value) {                                                   \
    return __builtin_bit_cast(std::uint32_t, value);                                            \
  }                                                                                             \
  template <class A>                                                                            \
  inline A wrapping_sum(A a, A b) {                                                             \
    if constexpr (std::is_integral_v<A>) {                                                      \
      using U = std::make_unsigned_t<A>;                                                        \
      return static_cast<A>(static_cast<U>(static_cast<U>(a) + static_cast<U>(b)));             \
    } else {                                                                                    \
      return a + b;                                                                             \
    }                                                                                           \
  }                                                                                             \
  template <class A>                                                                            \
  inline A wrapping_product(A a, A b) {                                                         \
    if constexpr (std::is_integral_v<A>) {                                                      \
      return static_cast<A>(static_cast<std::uint64_t>(a) * static_cast<std::uint64_t>(b));     \
    } else {                                                                                    \
      return a * b;                                                                             \
    }                                                                                           \
  }                                                                                             \
  template <class A>                                                                            \
  inline A divide(A a, std::size_t divisor) {                                                   \
    if constexpr (std::is_integral_v<A>) {                                                      \
      return static_cast<A>(static_cast<std::int64_t>(a) / static_cast<std::int64_t>(divisor)); \
    } else {                                                                                    \
      return a / static_cast<A>(divisor);                                                       \
    }                                                                                           \
  }

// Processes `count` floats at a time, in the registers that the instruction set provides.
#define TRIREME_COMBINE_LANES(count)                              \
  constexpr std::size_t kLanes = count;                           \
  using Lanes [[gnu::vector_size(4 * count)]] = float;            \
  using LaneBits [[gnu::vector_size(4 * count)]] = std::uint32_t; \
  using Packed [[gnu::vector_size(2 * count)]] = std::uint16_t;

namespace baseline {
namespace {
TRIREME_COMBINE_PRIMITIVES
TRIREME_COMBINE_LANES(4)
inline void widen(const Float16* in, float* out, std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) out[i] = widen_half(in[i].bits);
}
inline void narrow(const float* in, Float16* out, std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) out[i].bits = narrow_half(in[i]);
}
inline Lanes unpack(const Float16* in) {
  Lanes value;
  for (std::size_t i = 0; i < kLanes; ++i) value[i] = widen_half(in[i].bits);
  return value;
}
inline LaneBits whole_words(Packed bits) {
  return __builtin_convertvector(bits, LaneBits);
}
inline Packed low_halves(LaneBits bits) {
  return __builtin_convertvector(bits, Packed);
}
inline Packed pack(Lanes value, Float16) {
  Packed packed;
  for (std::size_t i = 0; i < kLanes; ++i) packed[i] = narrow_half(value[i]);
  return packed;
}
#include "trireme/comm/kernel/combine_loops.inc"
}  // namespace
}  // namespace baseline

#ifdef TRIREME_COMBINE_HAS_X86
// The compiler does not vectorize these conversions well by itself.
#define TRIREME_COMBINE_F16C                                                                   \
  inline void widen(const Float16* in, float* out, std::size_t count) {                        \
    std::size_t i = 0;                                                                         \
    for (; i + 8 <= count; i += 8) {                                                           \
      const auto packed = _mm_loadu_si128(reinterpret_cast<const __m128i*>(in + i));           \
      _mm256_storeu_ps(out + i, _mm256_cvtph_ps(packed));                                      \
    }                                                                                          \
    for (; i < count; ++i) out[i] = _cvtsh_ss(in[i].bits);                                     \
  }                                                                                            \
  inline void narrow(const float* in, Float16* out, std::size_t count) {                       \
    std::size_t i = 0;                                                                         \
    for (; i + 8 <= count; i += 8) {                                                           \
      const auto packed = _mm256_cvtps_ph(_mm256_loadu_ps(in + i), _MM_FROUND_TO_NEAREST_INT); \
      _mm_storeu_si128(reinterpret_cast<__m128i*>(out + i), packed);                           \
    }                                                                                          \
    for (; i < count; ++i) out[i].bits = _cvtss_sh(in[i], _MM_FROUND_TO_NEAREST_INT);          \
  }

#pragma GCC push_options
#pragma GCC target("avx2,fma,f16c")
namespace avx2 {
namespace {
TRIREME_COMBINE_PRIMITIVES
TRIREME_COMBINE_LANES(8)
TRIREME_COMBINE_F16C
inline LaneBits whole_words(Packed bits) {
  return reinterpret_cast<LaneBits>(_mm256_cvtepu16_epi32(reinterpret_cast<__m128i>(bits)));
}
inline Packed low_halves(LaneBits bits) {
  const auto all = reinterpret_cast<__m256i>(bits);
  return reinterpret_cast<Packed>(
      _mm_packus_epi32(_mm256_castsi256_si128(all), _mm256_extracti128_si256(all, 1)));
}
inline Lanes unpack(const Float16* in) {
  return _mm256_cvtph_ps(_mm_loadu_si128(reinterpret_cast<const __m128i*>(in)));
}
inline Packed pack(Lanes value, Float16) {
  return reinterpret_cast<Packed>(_mm256_cvtps_ph(value, _MM_FROUND_TO_NEAREST_INT));
}
#include "trireme/comm/kernel/combine_loops.inc"
}  // namespace
}  // namespace avx2
#pragma GCC pop_options

#pragma GCC push_options
// GCC 12 reports the undefined lanes inside its own avx512 intrinsics as uninitialized variables.
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#pragma GCC target("avx512f,avx512bw,avx512dq,avx512vl,avx2,fma,f16c,prefer-vector-width=512")
namespace avx512 {
namespace {
TRIREME_COMBINE_PRIMITIVES
TRIREME_COMBINE_LANES(16)
TRIREME_COMBINE_F16C
inline LaneBits whole_words(Packed bits) {
  return reinterpret_cast<LaneBits>(_mm512_cvtepu16_epi32(reinterpret_cast<__m256i>(bits)));
}
inline Packed low_halves(LaneBits bits) {
  return reinterpret_cast<Packed>(_mm512_cvtepi32_epi16(reinterpret_cast<__m512i>(bits)));
}
inline Lanes unpack(const Float16* in) {
  return _mm512_cvtph_ps(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(in)));
}
inline Packed pack(Lanes value, Float16) {
  return reinterpret_cast<Packed>(_mm512_cvtps_ph(value, _MM_FROUND_TO_NEAREST_INT));
}
#include "trireme/comm/kernel/combine_loops.inc"
}  // namespace
}  // namespace avx512
#pragma GCC diagnostic pop
#pragma GCC pop_options
#endif

namespace {

using Runner = void (*)(const Combination&, std::span<const void* const>, std::span<void* const>,
                        std::size_t);

Runner runner() noexcept {
  static const Runner chosen = []() -> Runner {
#ifdef TRIREME_COMBINE_HAS_X86
    if (__builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vl") &&
        __builtin_cpu_supports("avx512dq")) {
      return avx512::run;
    }
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("f16c")) {
      return avx2::run;
    }
#endif
    return baseline::run;
  }();
  return chosen;
}

}  // namespace

void combine(const Combination& how, std::span<const void* const> sources,
             std::span<void* const> destinations, std::size_t count) {
  TRIREME_CHECK(!sources.empty() && !destinations.empty(), "combine needs sources and a place");
  if (count != 0) runner()(how, sources, destinations, count);
}

}  // namespace trireme::comm
