// load_into() puts saved tensors into a module's parameters and buffers, by name.
//
// Strict:  a tensor that the module wants and the file lacks, one that the module does not know,
//          or one of other sizes is Mismatch; all of them are listed and nothing was touched.
//          Otherwise what fits is loaded, and the report says what did not. A tied tensor is
//          there when it is under one of its names.
// Renames: published weights bear other names, and some lie transposed; a list says which.
// Types:   converted to the module's, on its device.
// Threads: the module is the caller's while this runs.

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
  bool is_rest_ignored = false;  // what the file has and the module does not know is no mistake
  std::vector<Rename> renames{};
  std::string prefix{};  // only what begins with it, and without it
  // By the module's names; empty functions mean none.
  std::function<bool(const std::string&)> is_fresh{};     // left as they are, whatever the file has
  std::function<bool(const std::string&)> is_optional{};  // no mistake where the file lacks them
};

struct LoadReport {
  std::vector<std::string> loaded;      // all by the module's names
  std::vector<std::string> missing;     // in the file
  std::vector<std::string> unexpected;  // in the file, and nowhere in the module
  std::vector<std::string> mismatched;  // "weight: (2, 3) in the file, (3, 3) in the module"

  bool is_complete() const { return missing.empty() && unexpected.empty() && mismatched.empty(); }
  // One sentence a line; empty when complete.
  std::string text() const;
};

LoadReport load_into(torch::nn::Module& module, const TensorSource& source,
                     const LoadOptions& options = {});

// A module's parameters and buffers by name, a tied tensor once under each of its names.
NamedTensors tensors_of(const torch::nn::Module& module);

}  // namespace trireme::checkpoint
