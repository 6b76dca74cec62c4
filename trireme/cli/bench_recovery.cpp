#include <algorithm>
#include <cstdio>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>

#include "trireme/base/error.h"
#include "trireme/base/temporary_folder.h"
#include "trireme/cli/bench/json_file.h"
#include "trireme/cli/bench/program.h"
#include "trireme/cli/bench/recovery/measure.h"
#include "trireme/cli/bench/setters.h"
#include "trireme/cli/bench/statistics.h"
#include "trireme/cli/commands.h"

namespace trireme::cli {
namespace {

namespace fs = std::filesystem;
using bench::recovery::Incident;

constexpr auto kPeerMax = std::chrono::minutes(10);

struct Options {
  std::string json;
  int times = 10;
  int workers = 4;
  bool has_peers = false;
};

struct Case {
  const char* name;
  Incident incident;
  const char* sync;
  double median_max;     // seconds, on the table of bars
  double worst_max = 0;  // 0: none
};
constexpr Case kCases[] = {
    {.name = "kill",
     .incident = Incident::Kill,
     .sync = "shared",
     .median_max = 0.05,
     .worst_max = 0.25},
    {.name = "kill_zero1",
     .incident = Incident::Kill,
     .sync = "zero1",
     .median_max = 0.05,
     .worst_max = 0.25},
    {.name = "freeze", .incident = Incident::Freeze, .sync = "shared", .median_max = 1.5},
    {.name = "coordinator",
     .incident = Incident::Coordinator,
     .sync = "shared",
     .median_max = 0.05}};
constexpr double kReplacementMax = 1;
constexpr double kTimesFasterMin = 40;  // than torchrun

class Table {
 public:
  explicit Table(const Options& options) : json_(bench::open_json(options.json)) {
    std::printf("%-14s %-8s %5s %12s %12s  %s\n", "CASE", "SYNC", "TIMES", "MEDIAN ms", "WORST ms",
                "BAR");
    std::fflush(stdout);
  }

  // Whether the bar was met; a bar of 0 is none.
  bool add(const Case& one, const std::vector<double>& all) {
    const double median = bench::median(all);
    medians_[one.name] = median;
    const double worst = all.empty() ? 0 : *std::max_element(all.begin(), all.end());
    const bool is_met = (one.median_max == 0 || median <= one.median_max) &&
                        (one.worst_max == 0 || worst <= one.worst_max);
    char bar[80] = "";
    if (one.median_max > 0) {
      std::snprintf(bar, sizeof(bar), "%s: median <= %.0f ms", is_met ? "met" : "MISSED",
                    one.median_max * 1e3);
    }
    std::printf("%-14s %-8s %5zu %12.1f %12.1f  %s", one.name, one.sync, all.size(), median * 1e3,
                worst * 1e3, bar);
    if (one.worst_max > 0) std::printf(", worst <= %.0f ms", one.worst_max * 1e3);
    std::puts("");
    std::fflush(stdout);
    if (json_) {
      const nlohmann::ordered_json line{{"case", one.name},    {"sync", one.sync},
                                        {"seconds", median},   {"worst", worst},
                                        {"times", all.size()}, {"all", all}};
      std::fprintf(json_.get(), "%s\n", line.dump().c_str());
      std::fflush(json_.get());
    }
    return is_met;
  }

  // A death that costs less than nothing, within the noise of steps, counts as a millisecond.
  bool compare(const char* ours, const char* theirs) const {
    const double times = medians_.at(theirs) / std::max(medians_.at(ours), 1e-3);
    const bool is_met = times >= kTimesFasterMin;
    std::printf("%s against %s: %.0f x faster, %s: >= %.0f x\n", ours, theirs, times,
                is_met ? "met" : "MISSED", kTimesFasterMin);
    return is_met;
  }

 private:
  bench::File json_;
  std::map<std::string, double> medians_;
};

// PyTorch's launcher starts everybody again. Whether we are as much faster as we should be.
bool add_peer(Table& table, const Options& options) {
  const fs::path peer =
      fs::read_symlink("/proc/self/exe").parent_path() / "bench/peers/torch_recover";
  if (!fs::exists(peer)) {
    std::fputs("SKIPPED: no PyTorch: CMake found no Python with torch (make setup)\n", stderr);
    return true;
  }
  std::vector<double> all;
  bench::run_program({.words = {peer.string(), "--ranks", std::to_string(options.workers),
                                "--times", std::to_string(options.times)}},
                     Deadline::after(kPeerMax), [&](std::string_view text) {
                       const auto line = nlohmann::json::parse(text, nullptr, false);
                       if (line.is_object()) all.push_back(line.value("seconds", 0.0));
                     });
  table.add({.name = "torchrun", .incident = Incident::Kill, .sync = "ddp", .median_max = 0}, all);
  return !all.empty() && table.compare("kill", "torchrun");
}

int measure(const Options& options) {
  const TemporaryFolder folder("bench-recovery");
  Table table(options);
  bool is_met = true;
  for (const Case& one : kCases) {
    const auto measured = bench::recovery::measure({.incident = one.incident,
                                                    .sync = one.sync,
                                                    .workers = options.workers,
                                                    .times = options.times,
                                                    .folder = folder.path() / one.name});
    is_met &= table.add(one, measured.lost);
    if (&one != &kCases[0]) continue;
    is_met &= table.add({.name = "replacement",
                         .incident = one.incident,
                         .sync = one.sync,
                         .median_max = kReplacementMax},
                        measured.replacement);
    table.add({.name = "join", .incident = one.incident, .sync = one.sync, .median_max = 0},
              measured.join);
  }
  if (options.has_peers) is_met &= add_peer(table, options);
  return is_met ? 0 : 1;
}

}  // namespace

Command bench_recovery_command() {
  Command command("bench recovery", "Measure what deaths cost those who go on, training gpt-nano",
                  "trireme bench recovery --json recovery.jsonl --peers");
  const auto options = std::make_shared<Options>();
  command.option("--json", "FILE", "also as JSON, a line a case", set_text(options->json));
  command.option("--times", "N", "incidents a case (default 10)",
                 bench::number("--times", bench::Range<int>{1, 1000}, options->times));
  command.option("-n,--workers", "N", "of each job (default 4)",
                 bench::number("-n", bench::Range<int>{2, 32}, options->workers));
  command.flag("--peers", "PyTorch beside it: torchrun, which starts all ranks again",
               options->has_peers);
  command.action([options] { return measure(*options); });
  return command;
}

}  // namespace trireme::cli
