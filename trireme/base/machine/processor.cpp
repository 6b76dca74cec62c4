#include "trireme/base/machine/processor.h"

#include <cstdlib>

#if defined(__x86_64__)
#include <cpuid.h>
#endif

namespace trireme {
namespace {

constexpr const char* kVariable = "ONEDNN_MAX_CPU_ISA";
// The highest instruction set of oneDNN without tiles. On a processor with fewer features oneDNN
// uses those.
constexpr const char* kWithoutTiles = "AVX512_CORE_FP16";

}  // namespace

TileReport ask_for_tiles() {
  TileReport report;
#if defined(__x86_64__)
  constexpr unsigned kFeatures = 7, kTiles = 0x1d, kTileBit = 1u << 24;
  unsigned a = 0, b = 0, c = 0, d = 0;
  report.highest_leaf = __get_cpuid_max(0, nullptr);
  if (report.highest_leaf < kFeatures) return report;
  __cpuid_count(kFeatures, 0, a, b, c, d);
  report.has_tiles = (d & kTileBit) != 0;
  if (report.highest_leaf < kTiles) return report;
  __cpuid_count(kTiles, 0, a, b, c, d);
  report.palettes = a;
  __cpuid_count(kTiles, 1, a, b, c, d);
  report.bytes_per_tile = a >> 16;
#endif
  return report;
}

bool are_unusable(const TileReport& report) {
  return report.has_tiles && (report.palettes == 0 || report.bytes_per_tile == 0);
}

bool avoid_unusable_tiles() {
  if (std::getenv(kVariable) != nullptr || !are_unusable(ask_for_tiles())) return false;
  return ::setenv(kVariable, kWithoutTiles, 1) == 0;
}

}  // namespace trireme
