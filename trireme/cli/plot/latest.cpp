#include "trireme/cli/plot/latest.h"

#include <cstdio>
#include <nlohmann/json.hpp>
#include <optional>

#include "trireme/base/config/reader.h"
#include "trireme/base/error.h"
#include "trireme/base/file/file.h"
#include "trireme/checkpoint/format/folder.h"
#include "trireme/cli/program.h"
#include "trireme/cli/train/worker.h"

namespace trireme::cli::plot {
namespace {

namespace fs = std::filesystem;

// Returns -1 if the file is missing or was not written by Trireme.
std::int64_t step_in(const fs::path& file) {
  if (!fs::exists(file)) return -1;
  const auto all = nlohmann::json::parse(read_file(file), nullptr, /*allow_exceptions=*/false);
  if (!all.is_object() || !all.contains("step") || !all["step"].is_number_integer()) return -1;
  return all["step"].get<std::int64_t>();
}

// If the job uses a worker that was not given, or another build, the recipe cannot be read; the
// curves are plotted anyway.
std::optional<config::Config> recipe_of(const LatestOptions& options, const fs::path& recipe) {
  try {
    return RecipeWords{.recipe = recipe.string(), .overrides = {}}.read(Worker(options.worker));
  } catch (const Error& error) {
    std::fprintf(stderr, "trireme: curves alone, since %s cannot be read here: %s\n",
                 recipe.c_str(), error.message().c_str());
    return std::nullopt;
  }
}

}  // namespace

void bring_up_to_date(const LatestOptions& options, const RunTrireme& run) {
  const auto checkpoints = checkpoint::format::list_checkpoints(options.job / "checkpoints");
  const fs::path recipe = options.job / "config.toml";
  if (checkpoints.empty() || !fs::exists(recipe)) return;
  const std::int64_t newest = checkpoints.back().step;
  const std::optional<config::Config> read = recipe_of(options, recipe);
  if (!read) return;
  const config::Config& config = *read;
  const std::string &model = config.kind("model"), &data = config.kind("data");
  const bool is_drawing = model == "gan" || model == "autoencoder";
  // For text, the classes are the tokens; their confusion matrix is not meaningful.
  const bool is_text = data == "text" || data == "tokens";
  const fs::path made = options.job / (is_drawing ? "samples.json" : "evaluation.json");
  if (is_text || step_in(made) == newest) return;
  std::vector<std::string> words{is_drawing ? "generate" : "eval", options.job.string()};
  if (!is_drawing) words.emplace_back("--save");
  if (!options.worker.empty()) words.insert(words.end(), {"--worker", options.worker});
  const int code = run(words);
  if (code == 0) return;
  std::fprintf(stderr, "trireme: no picture of %s: `trireme %s %s` ended with %d\n",
               is_drawing ? "samples" : "the confusion matrix", words[0].c_str(),
               options.job.c_str(), code);
}

int run_quietly(std::vector<std::string> words) {
  words.insert(words.begin(), fs::read_symlink("/proc/self/exe").string());
  const ProgramEnd end =
      run_program({.words = std::move(words)}, Deadline::never(), [](std::string_view) {});
  if (end.is_interrupted) throw Error(ErrorCode::Aborted, "interrupted");
  return end.code;
}

}  // namespace trireme::cli::plot
