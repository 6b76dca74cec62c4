#include "tests/soak/command.h"

#include <cstdio>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>

#include "tests/soak/trial.h"
#include "trireme/base/clock.h"
#include "trireme/base/error.h"
#include "trireme/base/file/file.h"
#include "trireme/base/file/temporary_folder.h"
#include "trireme/cli/json_file.h"
#include "trireme/cli/program.h"
#include "trireme/cli/setters.h"

namespace trireme::soak {
namespace {

namespace fs = std::filesystem;

const std::vector<std::string> kKinds{"all_reduce", "shared", "zero1", "zero3"};

struct SoakOptions {
  std::uint64_t seed = 1;
  int faults = 100;
  int workers = 4;
  int minutes = 0;  // 0: no limit, until all faults have been injected
  int job = -1;     // run only this job; -1: all
  std::vector<std::string> kinds = kKinds;
  std::string json;
};

std::vector<std::string> read_kinds(const std::string& text) {
  std::vector<std::string> kinds;
  for (std::size_t at = 0; at <= text.size();) {
    const std::size_t comma = std::min(text.find(',', at), text.size());
    kinds.push_back(text.substr(at, comma - at));
    if (std::ranges::find(kKinds, kinds.back()) == kKinds.end()) {
      throw Error(ErrorCode::InvalidInput,
                  "'" + kinds.back() + "' is none of " + cli::joined(kKinds, ", "));
    }
    at = comma + 1;
  }
  return kinds;
}

// All jobs of a soak test, one after another.
class Soak {
 public:
  explicit Soak(const SoakOptions& options)
      : options_(options), json_(cli::open_json(options.json)), folder_("soak") {
    write_file_atomically(recipe(), trial_recipe());
  }

  int run() {
    int failed = 0, job = 0, count = 0;
    for (job = std::max(options_.job, 0); !is_done(count, faults_); ++job, ++count) {
      if (!run_one(job)) ++failed;
    }
    std::printf("%d faults in %d jobs: %s\n", faults_, count,
                failed == 0 ? "no sample lost or repeated, all weights bit-identical, nothing left"
                            : (std::to_string(failed) + " FAILED").c_str());
    return failed == 0 ? 0 : 1;
  }

 private:
  fs::path recipe() const { return folder_.path() / "recipe.toml"; }

  bool is_done(int jobs, int faults) const {
    if (options_.job >= 0) return jobs > 0;
    const bool is_late = options_.minutes > 0 &&
                         steady_clock().now() - began_ > std::chrono::minutes(options_.minutes);
    return faults >= options_.faults || is_late;
  }

  // The same job without faults, run once per synchronization strategy.
  const Verdict& undisturbed(const std::string& kind) {
    const auto at = undisturbed_.find(kind);
    if (at != undisturbed_.end()) return at->second;
    Verdict verdict = run_trial({.folder = folder_.path() / kind,
                                 .recipe = recipe(),
                                 .draw = {.kind = kind, .chaos = {}, .faults = {}},
                                 .workers = options_.workers,
                                 .program = program_});
    std::printf("%s, undisturbed: %.1f s\n", kind.c_str(), verdict.seconds);
    std::fflush(stdout);
    if (!verdict.mistakes.empty()) {
      throw Error(ErrorCode::Aborted, kind + ", undisturbed: " + verdict.mistakes.front());
    }
    return undisturbed_.emplace(kind, std::move(verdict)).first->second;
  }

  bool run_one(int job) {
    const Draw draw = soak::draw({.seed = options_.seed,
                                  .job = job,
                                  .steps = kSteps,
                                  .workers = options_.workers,
                                  .kinds = options_.kinds});
    const Verdict& reference = undisturbed(draw.kind);
    const fs::path folder = folder_.path() / ("job-" + std::to_string(job));
    const int had = faults_;
    const Verdict verdict = run_trial(
        {.folder = folder,
         .recipe = recipe(),
         .draw = draw,
         .workers = options_.workers,
         .program = program_,
         .undisturbed = &reference.book,
         .undisturbed_job = folder_.path() / draw.kind / "job",
         .is_enough = [&](int more) { return options_.job < 0 && had + more >= options_.faults; }});
    faults_ += static_cast<int>(verdict.faults.size());
    tell(job, draw, verdict, folder);
    std::error_code error;
    fs::remove_all(folder, error);
    return verdict.mistakes.empty();
  }

  void tell(int job, const Draw& draw, const Verdict& verdict, const fs::path& folder) {
    const bool is_right = verdict.mistakes.empty();
    std::printf("job %d, %s: %zu faults (%d of %d) in %.1f s: %s\n", job, draw.kind.c_str(),
                verdict.faults.size(), faults_, options_.faults, verdict.seconds,
                is_right ? "right" : "WRONG");
    if (!is_right) {
      for (const std::string& one : verdict.faults) std::printf("  fault: %s\n", one.c_str());
      for (const std::string& one : verdict.mistakes) std::printf("  WRONG: %s\n", one.c_str());
      const fs::path kept =
          fs::absolute("soak-" + std::to_string(options_.seed) + "-" + std::to_string(job));
      std::error_code error;
      fs::remove_all(kept, error);
      fs::copy(folder, kept, fs::copy_options::recursive, error);
      std::printf("  kept in %s; again: trireme soak --seed %llu --job %d --kinds %s -n %d\n",
                  kept.c_str(), static_cast<unsigned long long>(options_.seed), job,
                  cli::joined(options_.kinds, ",").c_str(), options_.workers);
    }
    std::fflush(stdout);
    if (!json_) return;
    const nlohmann::ordered_json line{
        {"job", job},           {"seed", options_.seed},       {"kind", draw.kind},
        {"chaos", draw.chaos},  {"faults", verdict.faults},    {"seconds", verdict.seconds},
        {"is_right", is_right}, {"mistakes", verdict.mistakes}};
    std::fprintf(json_.get(), "%s\n", line.dump().c_str());
    std::fflush(json_.get());
  }

  SoakOptions options_;
  cli::File json_;
  TemporaryFolder folder_;
  const fs::path program_ = cli::beside("trireme");
  std::map<std::string, Verdict> undisturbed_;
  const TimePoint began_ = steady_clock().now();
  int faults_ = 0;
};

}  // namespace

cli::Command soak_command() {
  cli::Command command("soak", "Inject faults into elastic jobs, and check that nothing was lost",
                       "trireme soak --seed 7 --faults 100");
  const auto options = std::make_shared<SoakOptions>();
  command.option("--seed", "S", "the faults are a function of it (default 1)",
                 cli::number<std::uint64_t>("--seed", {0, ~std::uint64_t{0}}, options->seed));
  command.option("--faults", "N", "number of faults in all (default 100)",
                 cli::number("--faults", cli::NumberRange<int>{0, 1'000'000}, options->faults));
  command.option("-n,--workers", "N", "workers of each job (default 4)",
                 cli::number("-n", cli::NumberRange<int>{2, 32}, options->workers));
  command.option(
      "--kinds", "LIST", "values of sync.kind, in turn (default all_reduce,shared,zero1,zero3)",
      cli::checked("--kinds",
                   [options](const std::string& text) { options->kinds = read_kinds(text); }));
  command.option("--minutes", "M", "start no further job after this time (default: no limit)",
                 cli::number("--minutes", cli::NumberRange<int>{1, 100'000}, options->minutes));
  command.option("--job", "N", "only the job of this number, as a failure names it",
                 cli::number("--job", cli::NumberRange<int>{0, 1'000'000}, options->job));
  command.option("--json", "FILE", "also write one JSON object per job there",
                 cli::set_text(options->json));
  command.action([options] { return Soak(*options).run(); });
  return command;
}

}  // namespace trireme::soak
