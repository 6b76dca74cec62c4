// What this machine's processor says of itself and cannot do.
//
// Some virtual machines report matrix tiles (AMX) and hide how large they are. oneDNN, with which
// LibTorch multiplies 16-bit matrices, then asks for tiles of no size, and the program ends by an
// illegal instruction (SIGILL), whatever it is written in.
//
// Threads: avoid_unusable_tiles() before there are any, since it changes the environment.

#pragma once

#include <cstdint>

namespace trireme {

// The answers of CPUID that matter here.
struct TileReport {
  bool has_tiles = false;            // leaf 7
  std::uint32_t highest_leaf = 0;    // leaf 0
  std::uint32_t palettes = 0;        // leaf 0x1D: how many kinds of tiles there are, but for none
  std::uint32_t bytes_per_tile = 0;  // of the first
};

// Of this processor; nothing where it is of another kind.
TileReport ask_for_tiles();

bool are_unusable(const TileReport& report);

// Keeps oneDNN in this process, and in those that it starts, from using tiles that cannot be used.
// What ONEDNN_MAX_CPU_ISA says already stays. True where it was set.
bool avoid_unusable_tiles();

}  // namespace trireme
