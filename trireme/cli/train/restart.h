// Where a job continues whose training diverged. A checkpoint of the step before the failure leads
// to the same weights in that step, whatever the settings are; then the job continues from an
// earlier checkpoint, or a new job begins.
//
// The worker writes to events.jsonl which checkpoint helps. Without this event the newest one is
// used.
//
// Thread safety: reads files of a job that has ended.

#pragma once

#include <filesystem>
#include <string>

#include "trireme/cli/train/continuation.h"

namespace trireme::cli {

struct Restart {
  Continuation rest;
  std::string words;  // the beginning of a sentence: "continue with"
};

// `newest` continues from the newest checkpoint, if there is one.
Restart restart_after_divergence(const Continuation& newest);

// The folder, or the first of FOLDER-2, FOLDER-3 and so on that holds no job.
std::filesystem::path free_job_folder(const std::filesystem::path& first);

}  // namespace trireme::cli
