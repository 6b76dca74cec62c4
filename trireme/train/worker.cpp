#include "trireme/train/worker.h"

#include <c10/util/Exception.h>
#include <signal.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <optional>

#include "trireme/base/bytes.h"
#include "trireme/base/config/reader.h"
#include "trireme/base/config/schema_json.h"
#include "trireme/base/error.h"
#include "trireme/base/exit_status.h"
#include "trireme/base/file.h"
#include "trireme/base/heap.h"
#include "trireme/base/log.h"
#include "trireme/base/processor.h"
#include "trireme/cluster/launch/rank_exit.h"
#include "trireme/cluster/world.h"
#include "trireme/comm/connect.h"
#include "trireme/train/answers.h"
#include "trireme/train/chaos.h"
#include "trireme/train/crew.h"
#include "trireme/train/step_log.h"
#include "trireme/train/trainer.h"
#include "trireme/train/worker_words.h"

namespace trireme::train {
namespace {

namespace fs = std::filesystem;

constexpr auto kRecipeTime = std::chrono::minutes(1);

// A signal can reach nothing but a global; only this process's main thread looks at it.
std::atomic<bool> g_is_stop_wanted{false};

void ask_to_stop(int) {
  g_is_stop_wanted.store(true);
}

void listen_for_stop() {
  struct sigaction action{};
  action.sa_handler = ask_to_stop;
  // Who ends a service sends it more than once, to the launcher and to its children: all of them
  // are the one request. Who has no more patience kills.
  action.sa_flags = SA_RESTART;
  sigaction(SIGTERM, &action, nullptr);
  // From a keyboard once is a request. A second one ends the process as it would any other.
  action.sa_flags = static_cast<int>(SA_RESETHAND | SA_RESTART);
  sigaction(SIGINT, &action, nullptr);
}

int rank_in_environment() {
  const char* rank = std::getenv("TRIREME_RANK");
  return rank == nullptr ? 0 : std::atoi(rank);
}

// Where the user looks: what goes through the launcher comes in lines.
std::string terminal_in_environment() {
  const char* terminal = std::getenv("TRIREME_TERMINAL");
  return terminal == nullptr ? "" : terminal;
}

// Settings in which ranks differ would make them ask each other for different things.
void expect_recipe_of_first_rank(cluster::World& world, const config::Config& config) {
  const char* const key = "recipe";
  const Deadline deadline = Deadline::after(kRecipeTime);
  if (world.rank() == 0) return world.store().set(key, bytes_of(config.to_toml()), deadline);
  const Bytes first = world.store().wait(key, deadline);
  const std::string different = all_differences(std::string(trireme::text_of(first)), config);
  if (different.empty()) return;
  throw Error(ErrorCode::Mismatch, "the recipe of rank " + std::to_string(world.rank()) +
                                       " is not that of rank 0: " + different +
                                       "; give all ranks the same")
      .with_rank(world.rank());
}

// A job of one needs nobody to meet.
std::optional<cluster::World> join_others(const config::Config& config) {
  const char* size = std::getenv("TRIREME_SIZE");
  if (size != nullptr && std::string(size) == "1") return std::nullopt;
  cluster::World world = cluster::World::join();
  if (world.size() > 1) expect_recipe_of_first_rank(world, config);
  return world;
}

// Nothing is left to save that others could not.
void end_orphaned(const std::string& why) {
  std::fprintf(stderr, "trireme: %s; ending\n", why.c_str());
  std::_Exit(kExitFailure);
}

// A worker of a job whose others may die, leave and come.
int train_elastic(const WorkerWords& words, const Kinds& kinds, const config::Config& config) {
  const fs::path output = words.text("--output");
  const std::unique_ptr<Chaos> chaos = Chaos::from_environment();
  const std::unique_ptr<StepLog> log = StepLog::from_environment(chaos.get());
  Faults* const faults = log ? static_cast<Faults*>(log.get()) : chaos.get();
  // Ready before it is taken in, so that nobody waits for it.
  const bool is_spread = config.get<ElasticConfig>(kElasticSection).is_spread;
  Job job = open_job(config, kinds, comm::Group::solo(),
                     {.is_lasting = true, .is_spread = is_spread, .faults = faults});
  const std::shared_ptr<Crew> crew =
      Crew::of_environment(config, recipe_hash(config), faults, end_orphaned);
  if (chaos) {
    // The crew ends before the job, in which something may still be moving.
    chaos->on_doubt([watched = std::weak_ptr(crew)](int worker) {
      if (const auto living = watched.lock()) living->doubt(worker);
    });
  }
  // Zero says that the training is done, and then nobody is replaced any more.
  crew->join(g_is_stop_wanted,
             [&] { std::_Exit(crew->is_end_announced() ? 0 : cluster::launch::kExitDismissed); });
  const bool is_first = crew->rank() == 0;
  Reporter reporter(
      {.folder = output, .terminal = terminal_in_environment(), .is_silent = !is_first});
  Trainer trainer(job, {.output = output,
                        .is_resumed = words.has("--resume"),
                        .is_stop_wanted = &g_is_stop_wanted,
                        .reporter = &reporter,
                        .faults = faults,
                        .crew = crew.get(),
                        .before_step =
                            [&](std::int64_t step) {
                              if (chaos) chaos->begin_step(step);
                            },
                        .after_step =
                            [&](const Progress& progress, const Outcome& outcome) {
                              if (log) log->write(crew->epoch(), progress, outcome);
                            }});
  // Who was to write it may be dead.
  const bool is_missing = !crew->has_group() && !fs::exists(output / "config.toml");
  if (is_first || is_missing) write_file_atomically(output / "config.toml", config.to_toml());
  Ending ending = Ending::Done;
  try {
    ending = trainer.run();
  } catch (const std::exception& thrown) {
    reporter.event({{"event", "failed"}, {"why", thrown.what()}});
    // What all workers come to will not be otherwise for those who would replace them.
    if (as_error(thrown).code() == ErrorCode::Diverged) {
      std::fprintf(stderr, "trireme: %s\n", thrown.what());
      return kExitUsage;
    }
    throw;
  }
  crew->leave();
  return ending == Ending::Dismissed ? cluster::launch::kExitDismissed : 0;
}

int train(const WorkerWords& words, const Kinds& kinds) {
  const config::Config config = config::read_config(
      recipe_schema(kinds),
      {.files = {config::load_config(words.text("--recipe"))}, .overrides = words.overrides()});
  const fs::path output = words.text("--output");
  keep_large_memory();
  listen_for_stop();
  if (std::getenv("TRIREME_ELASTIC") != nullptr) return train_elastic(words, kinds, config);
  std::optional<cluster::World> world = join_others(config);
  const comm::Group group =
      world && world->size() > 1
          ? comm::connect(*world, {.log = Log(text_log(STDERR_FILENO), LogLevel::Warn)})
          : comm::Group::solo();
  const std::unique_ptr<Chaos> chaos = Chaos::from_environment();
  Job job = open_job(config, kinds, group, {.faults = chaos.get()});
  Reporter reporter(
      {.folder = group.rank() == 0 ? output : fs::path(), .terminal = terminal_in_environment()});
  Trainer trainer(job, {.output = output,
                        .is_resumed = words.has("--resume"),
                        .is_stop_wanted = &g_is_stop_wanted,
                        .reporter = &reporter,
                        .faults = chaos.get(),
                        .before_step = [&](std::int64_t step) {
                          if (chaos) chaos->begin_step(step);
                        }});
  // Not before: a job that refuses to go on with this recipe keeps its own.
  if (group.rank() == 0) write_file_atomically(output / "config.toml", config.to_toml());
  try {
    trainer.run();
  } catch (const std::exception& thrown) {
    reporter.event({{"event", "failed"}, {"why", thrown.what()}});
    throw;
  }
  return 0;
}

int describe(const Kinds& kinds) {
  std::puts(config::schema_json(recipe_schema(kinds)).c_str());
  return 0;
}

int dispatch(const WorkerWords& words, const Kinds& kinds) {
  if (words.command() == "describe") return describe(kinds);
  if (words.command() == "train") return train(words, kinds);
  if (words.command() == "eval") return answer_eval(words, kinds);
  if (words.command() == "generate") return answer_generate(words, kinds);
  if (words.command() == "export") return answer_export(words, kinds);
  throw Error(ErrorCode::InvalidInput,
              "this is a worker: `trireme train RECIPE --worker` starts it; by hand it takes "
              "describe, train, eval, generate or export");
}

}  // namespace

int run_worker(int argc, char** argv, const Kinds& kinds) {
  avoid_unusable_tiles();
  try {
    return dispatch(WorkerWords(argc, argv), kinds);
  } catch (const c10::Error& error) {
    std::fprintf(stderr, "trireme: %s\n", error.what_without_backtrace());
  } catch (const std::exception& thrown) {
    const Error error = as_error(thrown);
    const bool is_users = is_users_mistake(error.code());
    // A mistake in a recipe is the same on every rank: it is said once.
    // Of an elastic job, whoever comes to it first may be the only one who does.
    const bool is_elastic = std::getenv("TRIREME_ELASTIC") != nullptr;
    if (!is_users || is_elastic || rank_in_environment() == 0) {
      std::fprintf(stderr, "trireme: %s\n", is_users ? error.message().c_str() : error.what());
    }
    return exit_status(error);
  }
  return kExitFailure;
}

}  // namespace trireme::train
