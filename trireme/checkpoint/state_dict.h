// StateDict is a .pt file of named tensors. Python's torch.save writes a state_dict(), a dict, or a
// dict that contains one of them as "model" or "state_dict", as training scripts do; C++'s
// torch::save and TorchScript write a module. Reading it executes no code: neither calls in the
// pickle nor the code/ of a TorchScript archive.
//
// Errors:        Corrupt for a damaged file, or for the format that preceded zip archives;
//                InvalidInput for a file that contains something other than named tensors.
// Thread safety: one thread at a time.

#pragma once

#include <ATen/core/Tensor.h>

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

namespace trireme::checkpoint {

class StateDict {
 public:
  explicit StateDict(const std::filesystem::path& path);
  ~StateDict();
  StateDict(const StateDict&) = delete;
  StateDict& operator=(const StateDict&) = delete;

  // Sorted.
  std::vector<std::string> names() const;
  // Reads the tensor from the file. Throws NotFound for a name that is not in names().
  at::Tensor read(const std::string& name) const;

 private:
  class Archive;
  std::unique_ptr<Archive> archive_;
};

}  // namespace trireme::checkpoint
