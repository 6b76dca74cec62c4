// TensorReader is anything that contains named tensors: a checkpoint, a .safetensors file, an
// archive that torch::save or Python's torch.save wrote. Each tensor is read when it is requested.
//
// Errors:        NotFound for a missing file or name; Corrupt for a damaged file; InvalidInput for
//                an archive that contains something other than named tensors.
// Hostile input: no code in a file is executed, and memory stays in proportion to its size.
// Thread safety: read() from one thread at a time.

#pragma once

#include <ATen/core/Tensor.h>

#include <filesystem>
#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "trireme/checkpoint/checkpoint.h"

namespace trireme::checkpoint {

struct TensorReader {
  std::string label;               // name in error messages
  std::vector<std::string> names;  // sorted
  std::function<at::Tensor(const std::string&)> read;
};

TensorReader open_tensors(const Checkpoint& checkpoint);

// Detects what is at `path`: a checkpoint folder, a .safetensors file, an archive of torch::save or
// a state dict of Python's torch.save.
TensorReader open_tensors(const std::filesystem::path& path);

using NamedTensors = std::vector<std::pair<std::string, at::Tensor>>;

// Writes one .safetensors file atomically. Other programs expect the `metadata` {"format": "pt"}.
void write_safetensors(const std::filesystem::path& path, const NamedTensors& tensors,
                       const std::map<std::string, std::string>& metadata = {{"format", "pt"}});

}  // namespace trireme::checkpoint
