#include <cstdio>
#include <memory>
#include <nlohmann/json.hpp>

#include "trireme/base/error.h"
#include "trireme/base/file/file.h"
#include "trireme/cli/commands.h"
#include "trireme/cli/crossval/folds.h"
#include "trireme/cli/program.h"
#include "trireme/cli/setters.h"

namespace trireme::cli {
namespace {

namespace fs = std::filesystem;
namespace cv = crossval;

int run_self(std::vector<std::string> words, const std::function<void(std::string_view)>& on_line) {
  words.insert(words.begin(), fs::read_symlink("/proc/self/exe").string());
  // Training has no time limit; Ctrl-C is forwarded to it.
  const ProgramEnd end = run_program({.words = std::move(words)}, Deadline::never(), on_line);
  if (end.is_interrupted) throw Error(ErrorCode::Aborted, "interrupted; the same words go on");
  return end.code;
}

void print_table(const std::vector<cv::Metrics>& folds,
                 const std::map<std::string, cv::Spread>& spreads) {
  std::printf("\n%-20s %10s %10s   of %zu folds\n", "metric", "mean", "deviation", folds.size());
  for (const auto& [name, spread] : spreads) {
    std::printf("%-20s %10.4f %10.4f  ", name.c_str(), spread.mean, spread.deviation);
    for (const cv::Metrics& fold : folds) std::printf(" %.4f", fold.at(name));
    std::printf("\n");
  }
}

std::string to_json(const std::vector<cv::Metrics>& folds,
                    const std::map<std::string, cv::Spread>& spreads) {
  nlohmann::ordered_json all{{"folds", folds}};
  for (const auto& [name, spread] : spreads) {
    all["mean"][name] = spread.mean;
    all["deviation"][name] = spread.deviation;
  }
  return all.dump(2) + "\n";
}

int cross_validate(cv::FoldOptions options, bool is_json) {
  if (options.output.empty()) {
    options.output = fs::path("runs") / (fs::path(options.recipe).stem().string() + "-folds");
  }
  // With --json, standard output holds the document alone.
  std::FILE* const stream = is_json ? stderr : stdout;
  const auto say = [stream](std::string_view line) {
    std::fprintf(stream, "%.*s\n", static_cast<int>(line.size()), line.data());
    std::fflush(stream);
  };
  const std::vector<cv::Metrics> folds = cv::run_folds(options, run_self, say);
  const auto spreads = cv::spread_of(folds);
  const std::string json = to_json(folds, spreads);
  if (is_json) {
    std::fputs(json.c_str(), stdout);
  } else {
    print_table(folds, spreads);
  }
  write_file_atomically(options.output / "folds.json", json);
  return 0;
}

}  // namespace

Command crossval_command() {
  Command command("crossval", "Train a recipe once per fold, and print the mean of all folds",
                  "trireme crossval recipes/csv_logistic.toml --folds 5 data.train=iris.csv "
                  "data.targets=species");
  const auto options = std::make_shared<cv::FoldOptions>();
  command.argument("RECIPE", "a TOML file", set_text(options->recipe));
  command.words("key=value", "settings that replace those of the recipe",
                [options](const std::vector<std::string>& all) {
                  options->overrides = all;
                  return std::string();
                });
  command.option("--folds", "N", "parts of the training data (default 5)",
                 number<int>("--folds", {2, 1000}, options->folds));
  command.option("--output", "DIR",
                 "folder of the jobs (default: runs/ and the recipe's name-folds)",
                 [options](const std::string& text) {
                   options->output = text;
                   return std::string();
                 });
  command.option("-n,--ranks", "N", "processes of each job, or auto: one per core (default 1)",
                 [options](const std::string& text) {
                   options->train_words = {"-n", text};
                   return std::string();
                 });
  command.option("--worker", "PROGRAM",
                 "a program with models, data, losses or strategies of your own",
                 set_text(options->worker));
  const auto is_json = std::make_shared<bool>(false);
  command.flag("--json", "one JSON object instead of a table; the jobs' output goes to stderr",
               *is_json);
  command.action([options, is_json] { return cross_validate(*options, *is_json); });
  return command;
}

}  // namespace trireme::cli
