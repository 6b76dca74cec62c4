#include "trireme/codec/kernel/blocks.h"

#include <cstring>

// Clang has no pragma that enables an instruction set for part of a file, so it builds only the
// baseline.
#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__)
#define TRIREME_CODEC_HAS_X86 1
#include <immintrin.h>
#endif

#include "trireme/comm/kernel/half.h"

namespace trireme::codec::kernel {
namespace {

constexpr std::uint32_t kMagnitude = 0x7fffffff;  // all bits of a float except its sign
constexpr std::uint32_t kInfinity = 0x7f800000;   // larger bit patterns are NaN
constexpr float kHalfMax = 65504;
constexpr std::size_t kAhead = 3;  // blocks to prefetch ahead

}  // namespace

// Each instruction set has its own copy of the loops in its own namespace: a shared inline function
// could otherwise be emitted with instructions that another machine lacks.
namespace baseline {
namespace {
inline void pack_half(const float* in, std::uint16_t* out, std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) out[i] = comm::narrow_half(in[i]);
}
inline void unpack_half(const std::uint16_t* in, float* out, std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) out[i] = comm::widen_half(in[i]);
}
#include "trireme/codec/kernel/blocks_loops.inc"
}  // namespace
}  // namespace baseline

#ifdef TRIREME_CODEC_HAS_X86
#define TRIREME_CODEC_F16C                                                                     \
  inline void pack_half(const float* in, std::uint16_t* out, std::size_t count) {              \
    std::size_t i = 0;                                                                         \
    for (; i + 8 <= count; i += 8) {                                                           \
      const auto packed = _mm256_cvtps_ph(_mm256_loadu_ps(in + i), _MM_FROUND_TO_NEAREST_INT); \
      _mm_storeu_si128(reinterpret_cast<__m128i*>(out + i), packed);                           \
    }                                                                                          \
    for (; i < count; ++i) out[i] = _cvtss_sh(in[i], _MM_FROUND_TO_NEAREST_INT);               \
  }                                                                                            \
  inline void unpack_half(const std::uint16_t* in, float* out, std::size_t count) {            \
    std::size_t i = 0;                                                                         \
    for (; i + 8 <= count; i += 8) {                                                           \
      const auto packed = _mm_loadu_si128(reinterpret_cast<const __m128i*>(in + i));           \
      _mm256_storeu_ps(out + i, _mm256_cvtph_ps(packed));                                      \
    }                                                                                          \
    for (; i < count; ++i) out[i] = _cvtsh_ss(in[i]);                                          \
  }

#pragma GCC push_options
#pragma GCC target("avx2,f16c")
namespace avx2 {
namespace {
TRIREME_CODEC_F16C
#include "trireme/codec/kernel/blocks_loops.inc"
}  // namespace
}  // namespace avx2
#pragma GCC pop_options

#pragma GCC push_options
#pragma GCC target("avx512f,avx512bw,avx512dq,avx512vl,avx2,f16c,prefer-vector-width=512")
namespace avx512 {
namespace {
TRIREME_CODEC_F16C
#include "trireme/codec/kernel/blocks_loops.inc"
}  // namespace
}  // namespace avx512
#pragma GCC pop_options
#endif

const Loops& portable_loops() noexcept {
  static const Loops all = baseline::table("baseline");
  return all;
}

const Loops& loops() noexcept {
  static const Loops chosen = [] {
#ifdef TRIREME_CODEC_HAS_X86
    if (__builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vl") &&
        __builtin_cpu_supports("avx512dq")) {
      return avx512::table("avx512");
    }
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("f16c")) {
      return avx2::table("avx2");
    }
#endif
    return baseline::table("baseline");
  }();
  return chosen;
}

}  // namespace trireme::codec::kernel
