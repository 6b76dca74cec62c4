// The metadata of a training job's checkpoint: a Progress, and the preprocessing of the data that
// the model was trained on.
//
// Errors:        reading throws Corrupt for metadata that no job can have written; a checkpoint
//                with such metadata counts as damaged.
// Thread safety: pure functions.

#pragma once

#include <optional>
#include <string>

#include "trireme/checkpoint/checkpoint.h"
#include "trireme/data/preprocessing.h"
#include "trireme/train/report/progress.h"

namespace trireme::train {

std::string meta_of(const Progress& progress, const std::string& preprocessing);

// Nullopt if the program that wrote the checkpoint did not save it.
std::optional<data::Preprocessing> preprocessing_in(const std::string& meta);

Progress progress_in(const checkpoint::Checkpoint& from);

// Throws if the metadata cannot be read. For checkpoint::Checkpoint::newest_whole() and similar
// functions.
void check_job_meta(const std::string& meta, std::int64_t step);

}  // namespace trireme::train
