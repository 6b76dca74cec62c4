// StateDict is a file of named tensors that Python's torch.save wrote: a state_dict(), a dict, or a
// dict that contains one of them as "model" or "state_dict", as training scripts do. Reading it
// executes no code.
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

  // Whether the archive contains a TorchScript module, as torch::save writes them.
  bool is_module() const;

 private:
  class Archive;
  std::unique_ptr<Archive> archive_;
};

// Throws Corrupt where the tensor has many more elements than the file at `path` has bytes: strides
// of 0 let a few bytes stand for any number of elements, which nobody has the time to look at.
void expect_in_proportion(const at::Tensor& tensor, const std::filesystem::path& path,
                          const std::string& name);

}  // namespace trireme::checkpoint
