// Loads published weights into a model and exports a model's weights under published names.
//
// Files:         a file that open_tensors() accepts; a job's folder or its checkpoint folder, from
//                which the newest complete checkpoint is read; or a Hugging Face folder (see
//                hugging_face_weights.h). A folder that belongs to a job is never read as a
//                Hugging Face folder, even if it holds model.safetensors.
// Names:         as returned by Model::published(). A file may omit the first component that all
//                its names share ("transformer."), and may contain entries that are not weights:
//                attention masks, or a second copy of a tied tensor. Optimizer state in a
//                checkpoint is ignored.
// Layout:        the sizes of a matrix that is not square show whether matrices have the published
//                layout or the model's layout. If all are square, Trireme checkpoints are assumed
//                to have the model's layout and other files the published one.
// Keys:          Trireme checkpoints are read according to `reading`; other files are never signed.
// Errors:        as load_into(): in strict mode, lists everything that does not fit and changes
//                nothing.
// Thread safety: no other thread may use the model during the call.

#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "trireme/checkpoint/load_into.h"
#include "trireme/model/model.h"

namespace trireme::checkpoint {

struct PublishedOptions {
  bool is_strict = true;
  // "theirs=ours": a tensor's name in the file and the name to load it as. If both sides end in a
  // dot, or the right side is empty and the left one ends in a dot, the entry renames all names
  // with that prefix.
  std::vector<std::string> renames{};
  // See LoadOptions.
  std::function<bool(const std::string&)> is_fresh{};
  std::function<bool(const std::string&)> is_optional{};
  format::ReadOptions reading{};  // for a job or a checkpoint
  // Called with what the user should know: a damaged checkpoint of a job's folder that was skipped,
  // and weights that are not signed although `reading` has a key.
  std::function<void(const std::string&)> on_note{};
};

// Describes the first invalid entry of a list of renames; empty if all are valid.
std::string complaint_of_renames(const std::vector<std::string>& renames);

LoadReport load_published(model::Model& model, const std::filesystem::path& path,
                          const PublishedOptions& options = {});

// Parameters and buffers under their published names and in the published layout; a tied tensor
// appears once.
NamedTensors published_tensors(const model::Model& model);

}  // namespace trireme::checkpoint
