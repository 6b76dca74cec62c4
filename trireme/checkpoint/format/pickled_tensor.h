// PickledTensor locates a tensor in a torch.save archive: the record that holds its storage, and
// the offset, sizes and strides into that storage. This information comes from the archive's
// pickle; the caller reads the records.
//
// Hostile input: nothing is trusted. Many tensors may share one list of sizes, so tensors are
//                decoded one at a time and not kept. A value with implausible properties (very many
//                dimensions, a very long record name) is not treated as a tensor.
// Thread safety: pure functions.

#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "trireme/checkpoint/format/dtype.h"
#include "trireme/checkpoint/format/pickle.h"

namespace trireme::checkpoint::format {

struct PickledTensor {
  std::string record;
  StoredDType dtype = StoredDType::F32;
  std::int64_t offset = 0;  // in elements, like the strides
  std::vector<std::int64_t> sizes{}, strides{};

  // The number of elements of the record that the tensor may access, counted from the record's
  // beginning; nullopt if this number or the tensor's element count overflows.
  std::optional<std::int64_t> extent() const;
};

// The dict of tensors: the root itself, or its entry "model" or "state_dict".
const PickleValue& tensor_dict(const PickleValue& root);

struct NamedValue {
  std::string_view name;
  const PickleValue* value = nullptr;
};

// The named tensors of a dict, in its order; if a name occurs more than once, the last entry
// counts. Many short operations may refer to one long name; it is returned once, so that the names
// together are no longer than the pickle. Equal texts at two positions of the pickle are two names.
std::vector<NamedValue> tensors_in(const PickleValue& dict);

// Whether the value is a TorchScript module, which is also what torch::save writes in C++.
bool is_script_module(const PickleValue& value) noexcept;

inline constexpr std::size_t kNameBytes = 16;

// The tensors of a TorchScript module and of the modules in it, named "layer.weight" like the
// entries of a state dict. Its code is not needed for that and never runs.
//
// Errors:        InvalidInput for a module whose attributes only its own code could restore.
// Hostile input: few bytes can describe modules that contain each other over and over. The names of
//                all entries that are visited together have at most kNameBytes bytes per byte of
//                the pickle, which is `size` bytes long; Corrupt beyond that.
std::map<std::string, const PickleValue*> tensors_in_module(const PickleValue& module,
                                                            std::size_t size);

// Returns nullopt if the value is not a tensor.
std::optional<PickledTensor> pickled_tensor(const PickleValue& value);

}  // namespace trireme::checkpoint::format
