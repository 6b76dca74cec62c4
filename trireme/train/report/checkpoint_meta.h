// The meta of a training job's checkpoint: a Progress, and beside it what the model needs to know
// of its data.
//
// Threads: pure.
// Errors:  reading throws Corrupt for a meta that no job can have written; a checkpoint with such a
//          meta counts as damaged.

#pragma once

#include <optional>
#include <string>

#include "trireme/checkpoint/checkpoint.h"
#include "trireme/data/preprocessing.h"
#include "trireme/train/report/progress.h"

namespace trireme::train {

std::string meta_of(const Progress& progress, const std::string& preprocessing);

// Nothing where the checkpoint's writer did not save it.
std::optional<data::Preprocessing> preprocessing_in(const std::string& meta);

Progress progress_in(const checkpoint::Checkpoint& from);

// For checkpoint::Checkpoint::newest_whole() and its like: everything in the meta can be read.
void check_job_meta(const std::string& meta, std::int64_t step);

}  // namespace trireme::train
