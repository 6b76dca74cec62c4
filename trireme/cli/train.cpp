#include <stdlib.h>
#include <unistd.h>

#include <filesystem>
#include <memory>

#include "trireme/base/error.h"
#include "trireme/base/file.h"
#include "trireme/base/mischief.h"
#include "trireme/cli/commands.h"
#include "trireme/cli/elastic_option.h"
#include "trireme/cli/grace_option.h"
#include "trireme/cli/hosts_option.h"
#include "trireme/cli/ranks_option.h"
#include "trireme/cli/store_option.h"
#include "trireme/cli/train/elastic.h"
#include "trireme/cli/train/worker.h"
#include "trireme/cluster/launch/front.h"
#include "trireme/cluster/launch/job/name.h"

namespace trireme::cli {
namespace {

namespace fs = std::filesystem;
namespace launch = cluster::launch;

struct TrainWords {
  RecipeWords recipe;
  std::string worker;
  std::string output;
  std::string chaos;
  bool is_resumed = false;
  launch::JobSpec spec;
  std::shared_ptr<ElasticWords> elastic = std::make_shared<ElasticWords>();
  std::shared_ptr<HostsWords> hosts = std::make_shared<HostsWords>();
  bool has_ranks = false;
};

// runs/<recipe>, then runs/<recipe>-2 and so on: what somebody trained is never overwritten.
fs::path free_output(const fs::path& recipe) {
  const fs::path first = fs::path("runs") / recipe.stem();
  fs::path path = first;
  for (int i = 2; fs::exists(path / "config.toml"); ++i) {
    path = first.string() + "-" + std::to_string(i);
  }
  return path;
}

fs::path output_of(const TrainWords& words) {
  if (words.output.empty()) {
    if (words.is_resumed) {
      throw Error(ErrorCode::InvalidInput, "--resume needs --output DIR: the job to go on with");
    }
    return fs::absolute(free_output(words.recipe.recipe));
  }
  if (!words.is_resumed && fs::exists(fs::path(words.output) / "config.toml")) {
    throw Error(ErrorCode::InvalidInput, words.output +
                                             " holds a job already: --resume goes on with it, "
                                             "another --output begins anew");
  }
  return fs::absolute(words.output);
}

// Every worker reads it; whoever dies must be somebody whom the others can do without.
void hand_on_chaos(const std::string& text, bool is_elastic) {
  if (text.empty()) return;
  for (const Mischief& one : parse_chaos(text)) {
    if (one.is_loss() && !is_elastic) {
      throw Error(ErrorCode::InvalidInput,
                  "--chaos: kill, stop and doubt are for elastic jobs: add --elastic");
    }
  }
  setenv("TRIREME_CHAOS", text.c_str(), 1);
}

int train(TrainWords words) {
  const Worker worker(words.worker);
  const config::Config config = words.recipe.read(worker);
  words.spec.elastic = elastic_of(config);
  if (words.elastic->is_on) words.spec.elastic = elastic_settings(config);
  words.hosts->apply(words.spec, words.has_ranks);
  words.elastic->apply(words.spec);
  HostsWords::check(words.spec);
  hand_on_chaos(words.chaos, words.spec.elastic.has_value());
  const fs::path output = output_of(words);
  const bool is_new = fs::create_directories(output);
  launch::JobSpec& spec = words.spec;
  spec.program = worker.path();
  spec.command = {worker.path().string(),
                  "train",
                  "--recipe",
                  fs::absolute(words.recipe.recipe).string(),
                  "--output",
                  output.string()};
  if (spec.hosts) spec.hosts->files.push_back(fs::absolute(words.recipe.recipe));
  if (words.is_resumed) spec.command.push_back("--resume");
  if (spec.elastic && !words.is_resumed) spec.elastic->resume_arguments = {"--resume"};
  for (const std::string& text : words.recipe.overrides) {
    spec.command.insert(spec.command.end(), {"--set", text});
  }
  if (spec.elastic) {
    for (const std::string& text : elastic_overrides(config, spec)) {
      spec.command.insert(spec.command.end(), {"--set", text});
    }
  }
  // Rank 0 draws on the user's terminal itself: what goes through the launcher comes in lines.
  if (const char* terminal = isatty(STDOUT_FILENO) == 1 ? ttyname(STDOUT_FILENO) : nullptr) {
    setenv("TRIREME_TERMINAL", terminal, 1);
  }
  const int code = launch::run_job(spec);
  // A recipe that was refused leaves nothing behind.
  std::error_code ignored;
  if (code != 0 && is_new) fs::remove(output, ignored);
  return code;
}

}  // namespace

Command train_command() {
  Command command("train", "Train what a recipe describes",
                  "trireme train recipes/fashion_cnn.toml train.epochs=2 --output runs/first");
  const auto words = std::make_shared<TrainWords>();
  // A checkpoint may have to be written once the job was asked to end.
  words->spec.grace = std::chrono::seconds(60);
  // A plain estimate of what a process with libtorch in it takes.
  words->spec.memory_each = 300'000'000;
  words->spec.threads_each = 8;
  command.argument("RECIPE", "a TOML file; `trireme explain` shows what it can hold",
                   set_text(words->recipe.recipe));
  command.words("key=value", "settings that change the recipe's",
                [words](const std::vector<std::string>& all) {
                  words->recipe.overrides = all;
                  return std::string();
                });
  command.option("-n,--ranks", "N", "how many processes, or auto: one a core (default 1)",
                 [words](const std::string& text) {
                   words->has_ranks = true;
                   return set_ranks(words->spec.ranks, text);
                 });
  command.option("--output", "DIR", "the job's folder (default: runs/ and the recipe's name)",
                 set_text(words->output));
  command.flag("--resume", "go on from the newest whole checkpoint in --output", words->is_resumed);
  command.option("--worker", "PROGRAM", "a program with models of your own",
                 set_text(words->worker));
  command.option("--name", "JOB", "what to call the job (default: made up)",
                 [words](const std::string& text) {
                   words->spec.name = text;
                   return launch::job::mistake_in_name(text);
                 });
  command.option("--grace", "SECONDS", "from asking ranks to end to killing them (default 60)",
                 [words](const std::string& text) { return set_grace(words->spec.grace, text); });
  command.option("--store", "etcd://HOST:PORT,...", kStoreHelp,
                 [words](const std::string& text) { return set_store(words->spec.store, text); });
  add_elastic_options(command, words->elastic);
  add_hosts_options(command, words->hosts);
  command.option("--chaos", "WHAT", "hurt workers, such as \"kill rank=2 step=20 at=update\"",
                 [words](const std::string& text) -> std::string {
                   words->chaos = text;
                   try {
                     parse_chaos(text);
                   } catch (const Error& error) {
                     return error.message();
                   }
                   return {};
                 });
  command.action([words] { return train(*words); });
  return command;
}

}  // namespace trireme::cli
