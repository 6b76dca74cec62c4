// Cross-validation: trains a recipe once per fold, evaluates each model on the data that it was not
// trained on, and combines the metrics of the folds.
//
// Folds:         fold i is a separate job in the folder fold-i, with data.folds and data.fold set;
//                an existing job is continued. The spread is the standard deviation over the folds
//                (n - 1). It is not the error of their mean, because folds share most of their
//                training data.
// Errors:        RemoteFailure, with the fold and the exit status, if a job or its evaluation
//                fails; Corrupt if an evaluation prints no JSON.
// Thread safety: one thread at a time.

#pragma once

#include <filesystem>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace trireme::cli::crossval {

struct FoldOptions {
  std::string recipe{};
  std::filesystem::path output{};
  int folds = 5;
  std::vector<std::string> overrides = {};
  std::vector<std::string> train_words = {};  // only for `trireme train`, such as -n 2
  std::string worker = {};                    // empty: the built-in one
};

// Runs `trireme` with these arguments until it exits and returns its exit status.
using RunFold = std::function<int(const std::vector<std::string>& words,
                                  const std::function<void(std::string_view)>& on_line)>;

using Metrics = std::map<std::string, double>;

// The metrics of every fold, in order. `say` receives the output of the jobs.
std::vector<Metrics> run_folds(const FoldOptions& options, const RunFold& run,
                               const std::function<void(std::string_view)>& say);

struct Spread {
  double mean = 0;
  double deviation = 0;  // 0 for a single value
};

// The spread of each metric that all folds have.
std::map<std::string, Spread> spread_of(const std::vector<Metrics>& folds);

}  // namespace trireme::cli::crossval
