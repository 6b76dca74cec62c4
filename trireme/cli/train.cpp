#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <optional>
#include <variant>

#include "trireme/base/error.h"
#include "trireme/base/exit_status.h"
#include "trireme/base/file/file.h"
#include "trireme/base/injected_fault.h"
#include "trireme/checkpoint/format/folder.h"
#include "trireme/cli/commands.h"
#include "trireme/cli/options.h"
#include "trireme/cli/train/continuation.h"
#include "trireme/cli/train/elastic.h"
#include "trireme/cli/train/restart.h"
#include "trireme/cli/train/worker.h"
#include "trireme/cluster/launch/job/name.h"
#include "trireme/cluster/launch/rank/rank_exit.h"
#include "trireme/cluster/launch/watch/front.h"

namespace trireme::cli {
namespace {

namespace fs = std::filesystem;
namespace launch = cluster::launch;

struct TrainWords {
  RecipeWords recipe;
  std::string worker;
  std::string output;
  std::string chaos;
  std::string allowed_changes;
  bool is_resumed = false;
  bool is_checkpoint_optional = false;  // --resume=auto
  std::vector<std::string> all;         // as given on the command line
  launch::JobSpec spec;
  std::shared_ptr<ElasticWords> elastic = std::make_shared<ElasticWords>();
  std::shared_ptr<HostsWords> hosts = std::make_shared<HostsWords>();
  bool has_ranks = false;
};

bool has_checkpoint(const fs::path& output) {
  return !checkpoint::format::list_checkpoints(output / "checkpoints").empty();
}

std::string set_resume(TrainWords& words, const std::string& text) {
  words.is_resumed = true;
  words.is_checkpoint_optional = text == "auto";
  if (text.empty() || text == "auto") return {};
  return "--resume=" + text + ": write --resume or --resume=auto";
}

// runs/<recipe>, then runs/<recipe>-2 and so on, so that an earlier job is never overwritten.
fs::path free_output(const fs::path& recipe) {
  return free_job_folder(fs::path("runs") / recipe.stem());
}

fs::path output_of(const TrainWords& words) {
  if (!words.allowed_changes.empty() && !words.is_resumed) {
    throw Error(ErrorCode::InvalidInput, "--allow-changes is for --resume: add it");
  }
  if (words.output.empty()) {
    if (words.is_resumed) {
      throw Error(ErrorCode::InvalidInput, "--resume needs --output DIR: the job to go on with");
    }
    return free_output(words.recipe.recipe);
  }
  if (words.is_resumed && !words.is_checkpoint_optional && !has_checkpoint(words.output)) {
    throw Error(ErrorCode::InvalidInput,
                words.output +
                    " has no checkpoint to resume from. Check --output; --resume=auto begins at "
                    "step 0 where there is none");
  }
  if (!words.is_resumed && fs::exists(fs::path(words.output) / "config.toml")) {
    throw Error(ErrorCode::InvalidInput,
                words.output +
                    (has_checkpoint(words.output)
                         ? " holds a job already: --resume goes on with it"
                         : " holds a job without a checkpoint: --resume=auto begins it "
                           "again at step 0") +
                    ", another --output begins anew");
  }
  return words.output;
}

std::optional<double> number_of(const config::Config& config, std::string_view key) {
  const config::Setting* const setting = config.setting(key);
  if (setting == nullptr) return std::nullopt;
  if (const auto* const whole = std::get_if<std::int64_t>(&setting->value.content)) {
    return static_cast<double>(*whole);
  }
  const auto* const real = std::get_if<double>(&setting->value.content);
  return real == nullptr ? std::nullopt : std::optional(*real);
}

// The same command would diverge again, so this suggests other settings. A custom worker may lack
// them.
void print_remedies(const Continuation& rest, const config::Config& config) {
  const Restart restart = restart_after_divergence(rest);
  std::string line = restart.words;
  std::vector<Continuation::Change> gentler;
  if (const auto rate = number_of(config, "optim.lr")) {
    char lower[32];
    std::snprintf(lower, sizeof lower, "%.3g", *rate / 10);
    gentler.push_back({.key = "optim.lr", .value = lower, .needs_permission = true});
    line += " a lower learning rate";
  }
  if (const auto norm = number_of(config, "optim.max_grad_norm");
      norm && (*norm == 0 || *norm > 1)) {
    line += gentler.empty() ? " clipped gradients" : " and clipped gradients";
    gentler.push_back({.key = "optim.max_grad_norm", .value = "1", .needs_permission = true});
  }
  std::fprintf(stderr, "trireme: %s: %s\n", line.c_str(), restart.rest.command(gentler).c_str());
  if (const config::Setting* const setting = config.setting("train.non_finite");
      setting != nullptr && to_plain(setting->value) == "stop") {
    std::fprintf(stderr, "trireme: or leave out the steps that are not finite: %s\n",
                 rest.command({{.key = "train.non_finite", .value = "skip"}}).c_str());
  }
}

// Called after every unsuccessful end of a job that has started. A rejected command line would be
// rejected again.
void print_continuation(const TrainWords& words, const config::Config& config,
                        const fs::path& output, int code) {
  if (code == 0 || code == kExitUsage || !fs::exists(output / "config.toml")) return;
  const Continuation rest{.program = program_invocation_name,
                          .words = words.all,
                          .folder = fs::current_path(),
                          .output = output,
                          .has_checkpoint = has_checkpoint(output)};
  if (code == launch::kExitDiverged) {
    print_remedies(rest, config);
  } else {
    std::fprintf(stderr, "trireme: continue with: %s\n", rest.command().c_str());
  }
}

// One rank synchronizes nothing, so that settings of synchronization cannot contradict others.
void check_conflicts(const config::Config& config, const launch::JobSpec& spec) {
  const bool is_elastic = spec.elastic.has_value();
  if (spec.ranks > 1 || is_elastic) config.check_conflicts({{"elastic.enabled", {is_elastic}}});
}

// Every worker reads the variable. Faults that lose a worker require an elastic job.
void hand_on_chaos(const std::string& text, const launch::JobSpec& spec) {
  if (text.empty()) return;
  const auto& elastic = spec.elastic;
  // Workers that replace others, or that are added, have numbers of their own.
  const bool may_grow = elastic && (elastic->most > spec.ranks || elastic->restarts_max > 0);
  for (const InjectedFault& one : parse_chaos(text)) {
    if (one.is_loss() && !elastic) {
      throw Error(ErrorCode::InvalidInput,
                  "--chaos: kill, stop, hang and doubt are for elastic jobs: add --elastic");
    }
    if (const int last = std::max(one.worker, one.whom); last >= spec.ranks && !may_grow) {
      throw Error(ErrorCode::InvalidInput, "--chaos: there is no rank " + std::to_string(last) +
                                               "; the job has ranks 0 to " +
                                               std::to_string(spec.ranks - 1));
    }
  }
  setenv("TRIREME_CHAOS", text.c_str(), 1);
}

// The command of every rank, on this host and on others.
std::vector<std::string> rank_command(const TrainWords& words, const config::Config& config,
                                      const fs::path& output) {
  std::vector<std::string> command = {words.spec.program.string(),
                                      "train",
                                      "--recipe",
                                      fs::absolute(words.recipe.recipe).string(),
                                      "--output",
                                      output.string()};
  if (words.is_resumed) command.push_back("--resume");
  if (!words.allowed_changes.empty()) {
    command.insert(command.end(), {"--allow-changes", words.allowed_changes});
  }
  for (const std::string& text : words.recipe.overrides) {
    command.insert(command.end(), {"--set", text});
  }
  if (words.spec.elastic) {
    for (const std::string& text : elastic_overrides(config, words.spec)) {
      command.insert(command.end(), {"--set", text});
    }
  }
  return command;
}

void complete_spec(TrainWords& words, const config::Config& config, const Worker& worker,
                   const fs::path& output) {
  launch::JobSpec& spec = words.spec;
  spec.program = worker.path();
  spec.results = output;
  spec.command = rank_command(words, config, output);
  if (spec.hosts) spec.hosts->files.push_back(fs::absolute(words.recipe.recipe));
  if (spec.elastic && !words.is_resumed) spec.elastic->resume_arguments = {"--resume"};
}

void set_rank_environment(const std::string& worker) {
  // Rank 0 writes to the user's terminal directly, because output through the launcher is passed on
  // line by line.
  if (const char* terminal = isatty(STDOUT_FILENO) == 1 ? ttyname(STDOUT_FILENO) : nullptr) {
    setenv("TRIREME_TERMINAL", terminal, 1);
  }
  setenv("TRIREME_PROGRAM", program_invocation_name, 1);
  // For the commands that a job recommends at its end.
  if (worker.empty()) {
    unsetenv("TRIREME_WORKER_OPTION");
  } else {
    setenv("TRIREME_WORKER_OPTION", worker.c_str(), 1);
  }
}

// Some exit codes carry details from workers to the launcher only.
int public_exit_code(int code) {
  const bool is_internal = code == launch::kExitDiverged || code == launch::kExitFinal ||
                           code == launch::kExitRefused || code == launch::kExitPeerLost;
  return is_internal ? kExitFailure : code;
}

int train(TrainWords words) {
  const Worker worker(words.worker);
  if (words.is_resumed) words.recipe.resumed = words.output;
  const config::Config config = words.recipe.read(worker);
  words.spec.elastic = elastic_of(config);
  if (words.elastic->is_on) words.spec.elastic = elastic_settings(config);
  words.hosts->apply(words.spec, words.has_ranks);
  words.elastic->apply(words.spec);
  check_conflicts(config, words.spec);
  HostsWords::check(words.spec);
  hand_on_chaos(words.chaos, words.spec);
  const fs::path named = output_of(words);
  const fs::path output = fs::absolute(named);
  const bool is_new = fs::create_directories(output);
  complete_spec(words, config, worker, output);
  set_rank_environment(words.worker);
  const int code = launch::run_job(words.spec);
  print_continuation(words, config, named, code);
  // Removes the new, still empty folder if the recipe was rejected.
  std::error_code ignored;
  if (code != 0 && is_new) fs::remove(output, ignored);
  return public_exit_code(code);
}

void add_recipe_words(Command& command, const std::shared_ptr<TrainWords>& words) {
  command.argument("RECIPE", "a TOML file; `trireme explain` shows what it can hold",
                   set_text(words->recipe.recipe));
  command.words("key=value", "settings that replace those of the recipe",
                [words](const std::vector<std::string>& all) {
                  words->recipe.overrides = all;
                  return std::string();
                });
}

// Where the job's results are, and whether it continues from them.
void add_output_options(Command& command, const std::shared_ptr<TrainWords>& words) {
  command.option("--output", "DIR", "the job's folder (default: runs/ and the recipe's name)",
                 set_text(words->output));
  command.flag("--resume", "auto",
               "continue from the newest whole checkpoint in --output; auto: begin at step 0 if "
               "there is none",
               [words](const std::string& text) { return set_resume(*words, text); });
  command.option("--allow-changes", "KEY,KEY",
                 "resume with other values of these settings, such as optim.lr",
                 set_text(words->allowed_changes));
}

void add_job_options(Command& command, const std::shared_ptr<TrainWords>& words) {
  command.option("--worker", "PROGRAM",
                 "a program with models, data, losses or strategies of your own",
                 set_text(words->worker));
  command.option("--name", "NAME", "name of the job (default: generated)",
                 [words](const std::string& text) {
                   words->spec.name = text;
                   return launch::job::mistake_in_name(text);
                 });
  command.option("--grace", "SECONDS",
                 "time between asking ranks to end and killing them (default 60)",
                 [words](const std::string& text) { return set_grace(words->spec.grace, text); });
  command.option("--store", "etcd://HOST:PORT,...", kStoreHelp,
                 [words](const std::string& text) { return set_store(words->spec.store, text); });
  add_elastic_options(command, words->elastic);
  add_hosts_options(command, words->hosts);
  command.option("--chaos", "FAULTS", "inject faults: \"kill rank=2 step=20 at=update\"",
                 [words](const std::string& text) -> std::string {
                   words->chaos = text;
                   try {
                     parse_chaos(text);
                   } catch (const Error& error) {
                     return error.message();
                   }
                   return {};
                 });
}

}  // namespace

Command train_command() {
  Command command("train", "Train what a recipe describes",
                  "trireme train recipes/fashion_cnn.toml train.epochs=2 --output runs/first");
  command.example("trireme train recipes/fashion_cnn.toml -n 4 optim.lr=3e-4");
  command.example("trireme train recipes/fashion_cnn.toml --output runs/first --resume");
  command.example("trireme train recipes/shakespeare_gpt.toml data.file=input.txt -n 4 --elastic");
  const auto words = std::make_shared<TrainWords>();
  // The grace period includes time to write a checkpoint after SIGTERM.
  words->spec.grace = std::chrono::seconds(60);
  // Estimated memory of a process that has loaded libtorch.
  words->spec.memory_each = 300'000'000;
  words->spec.threads_each = 8;
  add_recipe_words(command, words);
  command.option("-n,--ranks", "N", "number of processes, or auto: one per core (default 1)",
                 [words](const std::string& text) {
                   words->has_ranks = true;
                   return set_ranks(words->spec.ranks, text);
                 });
  add_output_options(command, words);
  add_job_options(command, words);
  command.on_words([words](const std::vector<std::string>& all) { words->all = all; });
  command.action([words] { return train(*words); });
  return command;
}

}  // namespace trireme::cli
