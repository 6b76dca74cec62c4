// load_into() copies saved tensors into a module's parameters and buffers, by name.
//
// Strict:        throws Mismatch if a tensor of the module is missing in the file, if the module
//                does not have a tensor of the file, or if sizes differ. The error lists all of
//                them, and the module does not change. If not strict, loads the tensors that fit
//                and reports the others. A tied tensor counts as present if the file has it under
//                one of its names.
// Renames:       published weights may have other names, and some are transposed; `renames` lists
//                them.
// Types:         tensors are converted to the module's type and device.
// Thread safety: no other thread may use the module during the call.

#pragma once

#include <torch/nn/module.h>

#include <functional>
#include <string>
#include <vector>

#include "trireme/checkpoint/tensor_source.h"

namespace trireme::checkpoint {

struct Rename {
  std::string file_name;  // in the file
  std::string our_name;   // in the module
  bool is_transposed = false;
};

struct LoadOptions {
  bool is_strict = true;
  bool is_rest_ignored = false;  // tensors that the module does not have are not an error
  std::vector<Rename> renames{};
  std::string prefix{};  // load only names with this prefix, and remove the prefix
  // Called with the module's names; an empty function matches no tensor.
  std::function<bool(const std::string&)> is_fresh{};     // not loaded, even if the file has them
  std::function<bool(const std::string&)> is_optional{};  // not an error if missing in the file
};

struct LoadReport {
  std::vector<std::string> loaded;      // all lists use the module's names
  std::vector<std::string> missing;     // in the module, not in the file
  std::vector<std::string> unexpected;  // in the file, not in the module
  std::vector<std::string> mismatched;  // "weight: (2, 3) in the file, (3, 3) in the module"

  bool is_complete() const { return missing.empty() && unexpected.empty() && mismatched.empty(); }
  // One sentence per line; empty if complete.
  std::string text() const;
};

LoadReport load_into(torch::nn::Module& module, const TensorReader& source,
                     const LoadOptions& options = {});

// A module's parameters and buffers by name; a tied tensor appears under each of its names.
NamedTensors tensors_of(const torch::nn::Module& module);

}  // namespace trireme::checkpoint
