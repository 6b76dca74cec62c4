// Cross-validation: a recipe is trained once a fold, each time evaluated on the part of the data
// that it did not see, and what the folds reached is put together.
//
// Meaning: fold i is a job of its own in the folder fold-i, with data.folds and data.fold set; one
//          that is there already goes on. The spread is the standard deviation of the folds (n -
//          1), which is no error of their mean: folds share most of what they are trained on.
// Threads: one at a time.
// Failure: RemoteFailure where a job or its evaluation fails, with the fold and the exit status;
//          Corrupt where an evaluation prints no JSON.

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
  std::vector<std::string> train_words = {};  // of `trireme train` alone, such as -n 2
  std::string worker = {};                    // empty: the built-in one
};

// Runs `trireme` with these words to its end and returns its exit status.
using RunTrireme = std::function<int(const std::vector<std::string>& words,
                                     const std::function<void(std::string_view)>& on_line)>;

using Metrics = std::map<std::string, double>;

// The metrics of every fold, in order. `say` gets what the jobs print.
std::vector<Metrics> run_folds(const FoldOptions& options, const RunTrireme& run,
                               const std::function<void(std::string_view)>& say);

struct Spread {
  double mean = 0;
  double deviation = 0;  // 0 of a single value
};

// Of each metric that all folds have.
std::map<std::string, Spread> spread_of(const std::vector<Metrics>& folds);

}  // namespace trireme::cli::crossval
