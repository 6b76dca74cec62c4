// Reads the weights of a folder that Hugging Face's `save_pretrained` wrote: model.safetensors, or
// the files that model.safetensors.index.json lists, or pytorch_model.bin if both are missing.
//
// Errors:        NotFound for a missing file. Corrupt if the index does not match its files, or if
//                it names a file outside the folder.
// Thread safety: pure functions.

#pragma once

#include <filesystem>

#include "trireme/checkpoint/tensor_source.h"

namespace trireme::checkpoint {

// Whether the folder contains such weights.
bool has_hugging_face_weights(const std::filesystem::path& folder);

TensorReader open_hugging_face_weights(const std::filesystem::path& folder);

}  // namespace trireme::checkpoint
