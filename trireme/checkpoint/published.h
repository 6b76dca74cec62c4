// Weights as others publish them: from a file into a model, and from a model into a file.
//
// Files:  what open_tensors() takes, and a job's folder or its checkpoints, of which the newest
//         whole one is read.
// Names:  as Model::published() says. A file may leave out the first part that all its names would
//         have ("transformer."), and may hold what is no weight: attention's masks, a second copy
//         of a tied tensor. The optimizer's state in a checkpoint is passed over.
// Layout: whether matrices lie as others publish them or as the model has them is told by the sizes
//         of one that is not square; where there is none, a checkpoint of ours is the model's and
//         any other file is not.
// Failure: as load_into(): strict lists everything that does not fit and touches nothing.
// Threads: the model is the caller's while this runs.

#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "trireme/checkpoint/load_into.h"
#include "trireme/model/model.h"

namespace trireme::checkpoint {

struct PublishedOptions {
  bool is_strict = true;
  // "theirs=ours": a tensor's name in the file and what to read it as; where both sides end in a
  // dot, or only the left one is there and does, all names that begin so.
  std::vector<std::string> renames{};
  // As LoadOptions has them.
  std::function<bool(const std::string&)> is_fresh{};
  std::function<bool(const std::string&)> is_optional{};
};

// What is wrong with a list of renames; empty: nothing.
std::string complaint_of_renames(const std::vector<std::string>& renames);

LoadReport load_published(model::Model& model, const std::filesystem::path& path,
                          const PublishedOptions& options = {});

// Parameters and buffers under their published names, lying as they are published; a tied one once.
NamedTensors published_tensors(const model::Model& model);

}  // namespace trireme::checkpoint
