// Detects processors that report a feature which they do not support.
//
// Some virtual machines report matrix tiles (AMX) but hide their size. oneDNN, which LibTorch uses
// to multiply 16-bit matrices, then configures tiles of size zero, and the process dies with an
// illegal instruction (SIGILL).
//
// Thread safety: call avoid_unusable_tiles() before other threads start, because it changes the
//                environment.

#pragma once

#include <cstdint>

namespace trireme {

// The CPUID results that matter here.
struct TileReport {
  bool has_tiles = false;            // leaf 7
  std::uint32_t highest_leaf = 0;    // leaf 0
  std::uint32_t palettes = 0;        // leaf 0x1D: the number of tile palettes, without palette 0
  std::uint32_t bytes_per_tile = 0;  // of palette 1
};

// The report of this processor; all zero if it is not x86-64.
TileReport ask_for_tiles();

bool are_unusable(const TileReport& report);

// Prevents oneDNN in this process and its child processes from using unusable tiles, by setting
// ONEDNN_MAX_CPU_ISA. A value that is already set stays unchanged. Returns true if it was set.
bool avoid_unusable_tiles();

}  // namespace trireme
