// StateDict is a file of tensors by name that Python's torch.save wrote: a state_dict(), a dict, or
// one that holds either as "model" or "state_dict", as training scripts do. Nothing in it is run.
//
// Failure: Corrupt for a damaged file, or one of the years before zip archives; InvalidInput for
// one
//          that holds something other than tensors by name.
// Threads: one at a time.

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
  // Reads it now. Throws NotFound for a name that is none of names().
  at::Tensor read(const std::string& name) const;

  // Whether the archive holds a module of TorchScript, as torch::save writes them.
  bool is_module() const;

 private:
  class Archive;
  std::unique_ptr<Archive> archive_;
};

}  // namespace trireme::checkpoint
