#include "bench/recovery/measure.h"

#include <poll.h>
#include <signal.h>

#include <optional>
#include <set>

#include "bench/recovery/timeline.h"
#include "tests/soak/subject.h"
#include "trireme/base/error.h"
#include "trireme/base/file/file.h"
#include "trireme/base/random.h"

namespace trireme::bench::recovery {
namespace {

namespace fs = std::filesystem;

constexpr auto kWaitMax = std::chrono::seconds(60);
constexpr int kSteadySteps = 8;  // of every worker, before an incident
constexpr int kJoltSteps = 20;   // before and after the incident
// Small enough that the preceding failure is not among these steps.
constexpr int kJoinSteps = 3;
constexpr int kMomentMax = 200;  // milliseconds: an incident can happen at any point of a step
constexpr const char* kRecipe =
    "[model]\nkind = \"gpt\"\nhidden_size = 128\nnum_layers = 4\nnum_heads = 4\n"
    "[data]\nkind = \"synthetic\"\ntask = \"tokens\"\ncount = 48000\ntest_count = 0\n"
    "classes = 65\nsizes = [64]\n"
    "[train]\nsteps = 1000000\n"
    "[optim]\nkind = \"adamw\"\nlr = 0.001\n"
    "[checkpoint]\nevery = 1000000\n"
    "[elastic]\nenabled = true\n";
constexpr int kBatchEach = 12;

std::int64_t now() {
  return std::chrono::nanoseconds(steady_clock().now().time_since_epoch()).count();
}

// A running job, its timeline, and the processes that the incidents hit.
class Bench {
 public:
  explicit Bench(const MeasureOptions& options)
      : options_(options),
        random_(1),
        subject_({.folder = options.folder,
                  .recipe = options.folder / "recipe.toml",
                  .settings = settings(options),
                  .workers = options.workers,
                  .program = options.program}) {}

  RecoveryTimes run() {
    RecoveryTimes measured;
    for (int i = 0; i < options_.times; ++i) {
      const std::set<int> members = wait_until_steady();
      ::poll(nullptr, 0, static_cast<int>(random_.below(kMomentMax)));
      look();
      if (options_.incident == Incident::Coordinator) {
        measured.undisturbed.push_back(jolt_from(now(), members));
        measured.lost.push_back(kill_coordinator(members));
      } else {
        hurt_one(members, i, measured);
      }
    }
    return measured;
  }

 private:
  static std::vector<std::string> settings(const MeasureOptions& options) {
    write_file_atomically(options.folder / "recipe.toml", kRecipe);
    std::vector<std::string> all{
        "sync.kind=" + options.sync,
        "train.global_batch_size=" + std::to_string(kBatchEach * options.workers)};
    if (options.incident == Incident::Freeze) all.emplace_back("elastic.heartbeat=1s");
    return all;
  }

  void look() {
    for (const monitor::StepLine& line : subject_.new_lines()) timeline_.add(line);
  }

  // Waits until `is_done`, which checks the timeline, returns a value.
  template <class Done>
  auto wait_for(const char* what, Done is_done) {
    const Deadline deadline = Deadline::after(kWaitMax);
    while (true) {
      look();
      if (auto done = is_done()) return *done;
      if (subject_.status() || deadline.is_past()) {
        throw Error(ErrorCode::Deadline, std::string(what) + " did not come; the job printed: " +
                                             read_file(subject_.output()));
      }
      ::poll(nullptr, 0, 5);
    }
  }

  std::set<int> wait_until_steady() {
    return wait_for("a steady pace", [&]() -> std::optional<std::set<int>> {
      std::set<int> members;
      for (const auto& [worker, pid] : subject_.workers()) {
        if (timeline_.steps_in_epoch(worker) >= kSteadySteps) members.insert(worker);
      }
      if (static_cast<int>(members.size()) != options_.workers) return std::nullopt;
      return members;
    });
  }

  void hurt_one(std::set<int> members, int turn, RecoveryTimes& measured) {
    const auto alive = subject_.workers();
    const int victim = *std::next(members.begin(), turn % options_.workers);
    const std::int64_t epoch = timeline_.epoch();
    members.erase(victim);
    const std::int64_t struck = now();
    ::kill(alive.at(victim), options_.incident == Incident::Freeze ? SIGSTOP : SIGKILL);
    measured.lost.push_back(
        wait_for("the next step", [&] { return timeline_.lost(struck, epoch, members); }));
    const auto began = wait_for("a replacement", [&]() -> std::optional<std::int64_t> {
      for (const auto& [worker, pid] : subject_.workers()) {
        if (!alive.contains(worker) && timeline_.began(worker)) return timeline_.began(worker);
      }
      return std::nullopt;
    });
    measured.replacement.push_back(static_cast<double>(began - struck) * 1e-9);
    measured.join.push_back(
        wait_for("steps with it", [&] { return timeline_.jolt(began, members, kJoinSteps); }));
    measured.step = timeline_.median_step(members);
  }

  double kill_coordinator(const std::set<int>& members) {
    const pid_t pid = wait_for("a coordinator", [&] { return subject_.coordinator(); });
    const std::int64_t struck = now();
    ::kill(pid, SIGKILL);
    return jolt_from(struck, members);
  }

  double jolt_from(std::int64_t moment, const std::set<int>& members) {
    return wait_for("the next steps", [&] { return timeline_.jolt(moment, members, kJoltSteps); });
  }

  MeasureOptions options_;
  Random random_;
  Timeline timeline_;
  soak::Subject subject_;
};

}  // namespace

RecoveryTimes measure(const MeasureOptions& options) {
  fs::create_directories(options.folder);
  return Bench(options).run();
}

}  // namespace trireme::bench::recovery
