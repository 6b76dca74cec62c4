// Rewrites a checkpoint with another number of parts, with or without compression, and with another
// key or none. The tensors stay bitwise identical; step, score and meta do not change.
//
// Memory:        one part at a time.
// Errors:        the errors that Reader and Shelf throw; InvalidInput if a job is writing to the
//                folder. The old checkpoint stays until an atomic exchange replaces it with the new
//                one.
// Thread safety: any thread; one writer per folder.

#pragma once

#include <filesystem>

#include "trireme/checkpoint/format/reader.h"
#include "trireme/checkpoint/format/seal.h"

namespace trireme::checkpoint::format {

struct ReshardOptions {
  std::filesystem::path folder;  // folder of checkpoints that receives the new one
  int parts = 1;
  Sealing sealing{};
};

// Returns the path of the new checkpoint.
std::filesystem::path reshard(const Reader& from, const ReshardOptions& options);

}  // namespace trireme::checkpoint::format
