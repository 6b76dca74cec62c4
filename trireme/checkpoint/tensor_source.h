// TensorSource is anything that holds named tensors: a checkpoint, a .safetensors file, an archive
// that torch::save or Python's torch.save wrote. Tensors are read one at a time, when asked for.
//
// Failure: NotFound for a missing file or name; Corrupt for a file that is damaged; InvalidInput
//          for an archive that holds something other than tensors by name.
// Threads: read() from one thread at a time.

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

struct TensorSource {
  std::string label;               // what messages call it
  std::vector<std::string> names;  // sorted
  std::function<at::Tensor(const std::string&)> read;
};

TensorSource open_tensors(const Checkpoint& checkpoint);

// By what lies at `path`: the folder of a checkpoint, a .safetensors file, an archive of
// torch::save or a state dict of Python's torch.save.
TensorSource open_tensors(const std::filesystem::path& path);

using NamedTensors = std::vector<std::pair<std::string, at::Tensor>>;

// One .safetensors file, complete or not there; `metadata` {"format": "pt"} is what other programs
// look for.
void write_safetensors(const std::filesystem::path& path, const NamedTensors& tensors,
                       const std::map<std::string, std::string>& metadata = {{"format", "pt"}});

}  // namespace trireme::checkpoint
