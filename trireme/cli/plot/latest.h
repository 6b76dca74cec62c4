// What pictures need of a trained job beside its metrics: an evaluation of the newest checkpoint
// (evaluation.json), and samples of a model that makes pictures (samples.png). Where they are
// missing or of an older checkpoint, the job's worker makes them.
//
// Threads: one.
// Failure: none: a job that cannot be evaluated, such as one whose data are gone, has no such
//          picture, and the worker has said why. Aborted where a signal came.

#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

namespace trireme::cli::plot {

// Runs `trireme` with these words to its end and returns its exit status.
using RunTrireme = std::function<int(const std::vector<std::string>& words)>;

struct LatestOptions {
  std::filesystem::path job;
  std::string worker = {};  // empty: the built-in one
};

void bring_up_to_date(const LatestOptions& options, const RunTrireme& run);

// This program itself, what it prints thrown away.
int run_quietly(std::vector<std::string> words);

}  // namespace trireme::cli::plot
