#include "trireme/train/worker.h"

#include <c10/util/Exception.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <optional>
#include <sstream>
#include <string_view>
#include <thread>

#include "trireme/base/bytes.h"
#include "trireme/base/config/reader.h"
#include "trireme/base/config/schema_json.h"
#include "trireme/base/error.h"
#include "trireme/base/exit_status.h"
#include "trireme/base/file/file.h"
#include "trireme/base/log.h"
#include "trireme/base/machine/heap.h"
#include "trireme/base/machine/processor.h"
#include "trireme/cluster/launch/rank/rank_exit.h"
#include "trireme/cluster/world.h"
#include "trireme/comm/connect.h"
#include "trireme/parallel/kinds.h"
#include "trireme/train/evaluate/answers.h"
#include "trireme/train/mesh_report.h"
#include "trireme/train/recipe/read_recipe.h"
#include "trireme/train/recipe/worker_words.h"
#include "trireme/train/recovery/chaos.h"
#include "trireme/train/recovery/elastic_world.h"
#include "trireme/train/report/step_log.h"
#include "trireme/train/resumption.h"
#include "trireme/train/trainer.h"

namespace trireme::train {
namespace {

namespace fs = std::filesystem;

constexpr auto kRecipeTime = std::chrono::minutes(1);
constexpr Duration kUnwindMax = std::chrono::seconds(5);

// A signal handler can only access global variables. The main thread reads this one.
std::atomic<bool> g_is_stop_wanted{false};

void ask_to_stop(int) {
  g_is_stop_wanted.store(true);
}

void listen_for_stop() {
  struct sigaction action{};
  action.sa_handler = ask_to_stop;
  // A service manager may send SIGTERM several times, to the launcher and to its children. All of
  // them are one request to stop; SIGKILL ends the process at once.
  action.sa_flags = SA_RESTART;
  sigaction(SIGTERM, &action, nullptr);
  // The first Ctrl-C is a request to stop. The second one ends the process.
  action.sa_flags = static_cast<int>(SA_RESETHAND | SA_RESTART);
  sigaction(SIGINT, &action, nullptr);
}

// The user's terminal. Output through the launcher is line by line and cannot show a live view.
std::string terminal_in_environment() {
  const char* terminal = std::getenv("TRIREME_TERMINAL");
  return terminal == nullptr ? "" : terminal;
}

int local_rank(const std::optional<cluster::World>& world) {
  if (world) return world->local_rank();
  const char* text = std::getenv("TRIREME_LOCAL_RANK");
  return text == nullptr ? 0 : std::atoi(text);
}

const parallel::SyncConfig& sync_of(const config::Config& config) {
  return config.get<parallel::SyncConfig>(parallel::kSyncSection);
}

// Ranks with different settings would issue different collectives.
void expect_recipe_of_first_rank(cluster::World& world, const config::Config& config) {
  const char* const key = "recipe";
  const Deadline deadline = Deadline::after(kRecipeTime);
  if (world.rank() == 0) return world.store().set(key, bytes_of(config.to_toml()), deadline);
  const Bytes first = world.store().wait(key, deadline);
  const std::string different =
      to_text(all_differences(std::string(trireme::text_of(first)), config));
  if (different.empty()) return;
  throw Error(ErrorCode::Mismatch, "the recipe of rank " + std::to_string(world.rank()) +
                                       " differs from that of rank 0: " + different +
                                       "; use the same recipe on all ranks")
      .with_rank(world.rank());
}

// The ranks of a job that is not elastic meet before they open it, and open it together. `world` is
// empty if there is one rank.
comm::Group join_others(const config::Config& config, std::optional<cluster::World>& world) {
  const char* size = std::getenv("TRIREME_SIZE");
  if (size != nullptr && std::string(size) == "1") return comm::Group::solo();
  world.emplace(cluster::World::join());
  if (world->size() == 1) return comm::Group::solo();
  expect_recipe_of_first_rank(*world, config);
  return comm::connect(*world, {.operation_timeout = sync_of(config).timeout,
                                .log = Log(text_log(STDERR_FILENO), LogLevel::Warn)});
}

// Exits at once. The other workers can save everything that this one could.
void end_orphaned(const std::string& why) {
  std::fprintf(stderr, "trireme: %s; ending\n", why.c_str());
  std::_Exit(kExitFailure);
}

// A worker of an elastic job joins after it has opened the job, so that the other workers do not
// wait for it.
std::shared_ptr<ElasticWorld> join_elastic(Job& job, Faults* faults, Chaos* chaos) {
  const std::shared_ptr<ElasticWorld> world =
      ElasticWorld::of_environment(job, faults, end_orphaned);
  if (chaos != nullptr) {
    // A weak pointer, because the world is destroyed before the job, which may still reach fault
    // points.
    chaos->on_doubt([watched = std::weak_ptr(world)](int worker) {
      if (const auto living = watched.lock()) living->doubt(worker);
    });
  }
  // Exit status 0 means that training is complete; the launcher then replaces no worker.
  world->join(g_is_stop_wanted, [raw = world.get()] {
    std::_Exit(raw->is_end_announced() ? 0 : cluster::launch::kExitDismissed);
  });
  job.launch_id = world->job_id();
  return world;
}

// The preprocessing in the job's checkpoint; nullopt for a new job. A worker that replaces another
// one may find a checkpoint that the job has written since it began.
std::optional<data::Preprocessing> known_data(const WorkerWords& words,
                                              const config::Config& config, bool is_elastic) {
  if (!words.has("--resume") && !is_elastic) return std::nullopt;
  std::optional<JobRecord> record = find_record(words.text("--output"), config);
  if (!record) return std::nullopt;
  if (words.has("--resume")) {
    // Changed settings are reported before the data are opened, since opening may fail because of
    // them.
    accept_changes(record->path, record->progress, config,
                   allowed_changes(words.text("--allow-changes", ""), config));
  } else if (record->progress.job_hash != job_hash(config)) {
    return std::nullopt;
  }
  return std::move(record->data);
}

bool is_elastic_worker() {
  const char* const elastic = std::getenv("TRIREME_ELASTIC");
  return elastic != nullptr && std::string_view(elastic) == "1";
}

// What tests and `--chaos` add to the steps of a worker.
struct Watchers {
  std::unique_ptr<Chaos> chaos = Chaos::from_environment();
  std::unique_ptr<StepLog> log = StepLog::from_environment(chaos.get());

  Faults* faults() const { return log ? static_cast<Faults*>(log.get()) : chaos.get(); }
};

Trainer::Options trainer_options(const WorkerWords& words, const Job& job,
                                 const Watchers& watchers) {
  const fs::path output = words.text("--output");
  return {
      .output = output,
      .is_resumed = words.has("--resume"),
      .allowed_changes = allowed_changes(words.text("--allow-changes", ""), job.config),
      .keep_recipe =
          [output, &job] { write_file_atomically(output / "config.toml", job.config.to_toml()); },
      .is_stop_wanted = &g_is_stop_wanted,
      .faults = watchers.faults(),
      .before_step =
          [&watchers](std::int64_t step) {
            if (watchers.chaos) watchers.chaos->begin_step(step);
          },
      .after_step =
          [&watchers, &job](const Progress& progress, const Outcome& outcome) {
            if (watchers.log) watchers.log->write(job.group.epoch(), progress, outcome);
          }};
}

// Reports a failure to the launcher, which shows it, or without a launcher to the user.
void tell_failure(const std::string& why) {
  const bool is_launched = std::getenv("TRIREME_JOB_FOLDER") != nullptr;
  std::istringstream lines(why);
  std::string text;
  for (std::string line; std::getline(lines, line);) {
    text += (is_launched ? std::string(cluster::launch::kFailureMark) : "trireme: ") + line + "\n";
  }
  std::fputs(text.c_str(), stderr);
}

// The exit status distinguishes failures of other ranks from those of this one, and marks those
// that every replacement of the worker would meet.
int training_status(const Error& error) {
  switch (error.code()) {
    case ErrorCode::PeerLost:
    case ErrorCode::Aborted:
      return cluster::launch::kExitPeerLost;
    case ErrorCode::RemoteFailure:
      // With a peer, that rank has failed and reports the failure by its own exit status. Without
      // one, a part of a checkpoint could not be written, and this rank reports it.
      return error.peer() ? cluster::launch::kExitPeerLost : cluster::launch::kExitFinal;
    case ErrorCode::Diverged:
      return cluster::launch::kExitDiverged;
    case ErrorCode::Mismatch:
      return cluster::launch::kExitRefused;
    case ErrorCode::Corrupt:
    case ErrorCode::Exhausted:
    case ErrorCode::Unsupported:
      return cluster::launch::kExitFinal;
    default:
      return exit_status(error);
  }
}

enum class Phase {
  Answer,  // a command other than train
  Open,    // until training begins
  Steps,
};

// Thrown after a failure of training was reported, so that it is reported once.
struct Reported {
  int status = kExitFailure;
};

// Reports a failure and returns the exit status.
int report_failure(const std::exception& thrown, Phase phase) {
  if (const auto* of_torch = dynamic_cast<const c10::Error*>(&thrown)) {
    tell_failure(of_torch->what_without_backtrace());
    return kExitFailure;
  }
  const Error error = as_error(thrown);
  tell_failure(is_users_mistake(error.code()) ? error.message() : error.what());
  if (phase == Phase::Answer) return exit_status(error);
  // In the middle of a job a missing file is not a mistake in the command, which a user corrects
  // and enters again: the job has a checkpoint to continue from.
  const bool is_final = phase == Phase::Steps && is_users_mistake(error.code());
  return is_final ? cluster::launch::kExitFinal : training_status(error);
}

// Ends this process at the latest after a time: the destructors of the loader and of checkpoints
// wait for threads that may be in a read or a write that never returns. A checkpoint that is being
// written may be finished, unless something has just missed its deadline.
void end_soon(const Error& failure, int status, const comm::Timeouts& timeouts) {
  const Duration most = failure.code() == ErrorCode::Deadline ? kUnwindMax : timeouts.writer();
  std::thread([status, most] {
    std::this_thread::sleep_for(most);
    std::_Exit(status);
  }).detach();
}

// Until the job has begun, its folder may be that of another job. An event that cannot be written
// must not replace the failure.
void log_failure(Reporter& reporter, const Trainer& trainer, const std::exception& thrown) {
  if (!trainer.has_begun()) return;
  try {
    reporter.event({{"event", "failed"}, {"why", thrown.what()}});
  } catch (const std::exception&) {  // report_failure() has printed the failure itself
  }
}

// Trains until the end. A failure is reported before anything is destroyed, and the other workers
// are told why this one fails.
TrainingOutcome run(Trainer& trainer, const Job& job, Reporter& reporter, ElasticWorld* world) {
  try {
    return trainer.run();
  } catch (const std::exception& thrown) {
    const Error error = as_error(thrown);
    const int status = report_failure(thrown, trainer.has_begun() ? Phase::Steps : Phase::Open);
    end_soon(error, status, comm::Timeouts{sync_of(job.config).timeout});
    log_failure(reporter, trainer, thrown);
    if (world != nullptr) world->set_failure(std::string(kItFailed) + ": " + error.message());
    throw Reported{status};
  }
}

int train(const WorkerWords& words, const Kinds& kinds) {
  const fs::path output = words.text("--output");
  const config::Config config = read_recipe(words.text("--recipe"), words.overrides(), kinds,
                                            words.has("--resume") ? output : fs::path());
  keep_large_memory();
  listen_for_stop();
  const bool is_elastic = is_elastic_worker();
  const Watchers watchers;
  std::optional<cluster::World> fixed_world;
  const comm::Group group = is_elastic ? comm::Group::solo() : join_others(config, fixed_world);
  const std::optional<data::Preprocessing> known = known_data(words, config, is_elastic);
  Job job =
      open_job(config, kinds, group,
               {.is_elastic = is_elastic,
                .is_spread = is_elastic && config.get<ElasticConfig>(kElasticSection).is_spread,
                .local_rank = local_rank(fixed_world),
                .known = known ? &*known : nullptr,
                .faults = watchers.faults()});
  const std::shared_ptr<ElasticWorld> world =
      is_elastic ? join_elastic(job, watchers.faults(), watchers.chaos.get()) : nullptr;
  Reporter reporter({.folder = output,
                     .terminal = terminal_in_environment(),
                     .is_silent = (world ? world->rank() : group.rank()) != 0,
                     .measure_peak = [device = job.device.torch()](Precision precision) {
                       return measure_peak_flops(precision, device);
                     }});
  Trainer::Options options = trainer_options(words, job, watchers);
  options.reporter = &reporter;
  options.world = world.get();
  Trainer trainer(job, std::move(options));
  const TrainingOutcome ending = run(trainer, job, reporter, world.get());
  if (world) world->leave();
  return ending == TrainingOutcome::Dismissed ? cluster::launch::kExitDismissed : 0;
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
  if (words.command() == "predict") return answer_predict(words, kinds);
  if (words.command() == "export") return answer_export(words, kinds);
  if (words.command() == "mesh") return answer_mesh(words, kinds);
  throw Error(
      ErrorCode::InvalidInput,
      "this program is a worker, which `trireme train RECIPE --worker` starts; its commands "
      "are describe, train, eval, generate, predict, export and mesh");
}

}  // namespace

int run_worker(int argc, char** argv, const Kinds& kinds) {
  avoid_unusable_tiles();
  Phase phase = Phase::Answer;
  try {
    const WorkerWords words({argv + std::min(argc, 1), argv + argc});
    if (words.command() == "train") phase = Phase::Open;
    return dispatch(words, kinds);
  } catch (const Reported& failure) {
    return failure.status;
  } catch (const std::exception& thrown) {
    return report_failure(thrown, phase);
  }
}

}  // namespace trireme::train
