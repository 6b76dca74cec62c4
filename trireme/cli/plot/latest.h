// The inputs that plots need besides a job's metrics: an evaluation of the newest checkpoint
// (evaluation.json), and samples of a generative image model (samples.png). If they are missing or
// belong to an older checkpoint, the job's worker creates them.
//
// Errors:        none if the job cannot be evaluated, for example because its data is gone: the
//                plot is skipped, and the worker reports the reason. Aborted if a signal arrives.
// Thread safety: one thread.

#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

namespace trireme::cli::plot {

// Runs `trireme` with these arguments until it exits and returns its exit status.
using RunTrireme = std::function<int(const std::vector<std::string>& words)>;

struct LatestOptions {
  std::filesystem::path job;
  std::string worker = {};  // empty: the built-in one
};

void bring_up_to_date(const LatestOptions& options, const RunTrireme& run);

// Runs this program and discards its output.
int run_quietly(std::vector<std::string> words);

}  // namespace trireme::cli::plot
