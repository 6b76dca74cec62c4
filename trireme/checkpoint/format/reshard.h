// Writing a checkpoint again: in another number of parts, compressed or not, under another key or
// none. The tensors stay bit for bit what they are, and so do step, score and meta.
//
// Memory:  one part at a time.
// Failure: what Reader and Shelf throw; a folder that a job writes to is InvalidInput. The old
//          checkpoint stays until the new one takes its place in one exchange.
// Threads: any; one writer a folder.

#pragma once

#include <filesystem>

#include "trireme/checkpoint/format/reader.h"
#include "trireme/checkpoint/format/seal.h"

namespace trireme::checkpoint::format {

struct ReshardOptions {
  std::filesystem::path folder;  // of checkpoints, in which the new one appears
  int parts = 1;
  Sealing sealing{};
};

// Returns where it lies now.
std::filesystem::path reshard(const Reader& from, const ReshardOptions& options);

}  // namespace trireme::checkpoint::format
