#include "trireme/cli/crossval/folds.h"

#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>

#include "trireme/base/error.h"
#include "trireme/base/text/json_text.h"

namespace trireme::cli::crossval {
namespace {

namespace fs = std::filesystem;

void expect_success(int code, const fs::path& job, const char* what) {
  if (code == 0) return;
  throw Error(ErrorCode::RemoteFailure, std::string(what) + " of " + job.string() +
                                            " ended with status " + std::to_string(code));
}

Metrics metrics_in(const std::string& line, const fs::path& job) {
  try {
    const nlohmann::json all = nlohmann::json::parse(line);
    Metrics metrics;
    for (const auto& [name, value] : all.items()) {
      if (name == "step") continue;
      // A number that is not finite is written as a string.
      metrics[name] =
          value.is_number() ? value.get<double>() : std::numeric_limits<double>::quiet_NaN();
    }
    return metrics;
  } catch (const nlohmann::json::exception& error) {
    throw Error(ErrorCode::Corrupt, "the evaluation of " + job.string() + " says '" + line +
                                        "': " + json_reason(error.what()));
  }
}

}  // namespace

std::vector<Metrics> run_folds(const FoldOptions& options, const RunFold& run,
                               const std::function<void(std::string_view)>& say) {
  std::vector<Metrics> all;
  for (int fold = 0; fold < options.folds; ++fold) {
    const fs::path job = options.output / ("fold-" + std::to_string(fold));
    std::vector<std::string> train{"train", options.recipe};
    train.insert(train.end(), options.overrides.begin(), options.overrides.end());
    train.push_back("data.folds=" + std::to_string(options.folds));
    train.push_back("data.fold=" + std::to_string(fold));
    train.insert(train.end(), {"--output", job.string()});
    train.insert(train.end(), options.train_words.begin(), options.train_words.end());
    if (fs::exists(job / "config.toml")) train.emplace_back("--resume=auto");
    std::vector<std::string> eval{"eval", job.string(), "--json"};
    if (!options.worker.empty()) {
      for (auto* words : {&train, &eval}) words->insert(words->end(), {"--worker", options.worker});
    }
    expect_success(run(train, say), job, "the training");
    std::string line;
    const auto keep = [&](std::string_view text) { line = text; };
    expect_success(run(eval, keep), job, "the evaluation");
    all.push_back(metrics_in(line, job));
  }
  return all;
}

std::map<std::string, Spread> spread_of(const std::vector<Metrics>& folds) {
  std::map<std::string, Spread> all;
  if (folds.empty()) return all;
  const auto count = static_cast<double>(folds.size());
  for (const auto& [name, first] : folds.front()) {
    double sum = 0, squares = 0;
    bool is_everywhere = true;
    for (const Metrics& fold : folds) {
      is_everywhere &= fold.contains(name);
      if (is_everywhere) sum += fold.at(name);
    }
    if (!is_everywhere) continue;
    const double mean = sum / count;
    for (const Metrics& fold : folds) squares += (fold.at(name) - mean) * (fold.at(name) - mean);
    all[name] = {.mean = mean, .deviation = count > 1 ? std::sqrt(squares / (count - 1)) : 0};
  }
  return all;
}

}  // namespace trireme::cli::crossval
