// What a recipe and the ranks of a job determine before its data are opened: whether the job is
// possible, and how its ranks synchronize.
//
// Errors:        InvalidInput or Unsupported for settings that cannot be combined, or not on these
//                ranks. The program has checked the recipe already; this check includes the number
//                of ranks, their hosts, and every strategy of sync.schedule.
// Thread safety: pure functions.

#pragma once

#include "trireme/parallel/sync_options.h"
#include "trireme/train/job.h"

namespace trireme::train {

void check_settings(const Job& job, const JobOptions& options);

// Without what the model and the data determine.
parallel::SyncOptions sync_settings(const Job& job, const JobOptions& options);

// Of a step. Throws InvalidInput if there are more replicas than logical ranks.
int micro_batch_count(const TrainConfig& config, int replicas);

// The number of stragglers that a step may exclude.
int left_out_max(const Job& job);

}  // namespace trireme::train
