#include <cstdio>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>

#include "bench/commands.h"
#include "bench/launch.h"
#include "bench/recovery/bar.h"
#include "bench/recovery/measure.h"
#include "bench/statistics.h"
#include "trireme/base/error.h"
#include "trireme/base/file/temporary_folder.h"
#include "trireme/cli/json_file.h"
#include "trireme/cli/program.h"
#include "trireme/cli/setters.h"

namespace trireme::bench::recovery {
namespace {

constexpr int kWorkers = 4;  // of each job
constexpr auto kPeerMax = std::chrono::minutes(10);

struct Options {
  std::string json;
  int times = 10;
  bool has_peers = false;
};

struct Case {
  const char* name;
  Incident incident;
  const char* sync;
  RecoveryLimit bar{};
};
constexpr Case kCases[] = {{"kill", Incident::Kill, "shared", {0.05, 0.15}},
                           {"kill_zero1", Incident::Kill, "zero1", {0.05, 0.15}},
                           {"freeze", Incident::Freeze, "shared", {.median_max = 1.5}},
                           // The limit applies to every step.
                           {"coordinator", Incident::Coordinator, "shared", {.worst_max = 0.05}}};
constexpr double kReplacementMax = 1;
constexpr double kTimesFasterMin = 40;  // than torchrun

class Table {
 public:
  explicit Table(const Options& options) : json_(cli::open_json(options.json)) {
    std::printf("%-14s %-8s %5s %12s %12s  %s\n", "CASE", "SYNC", "TIMES", "MEDIAN ms", "WORST ms",
                "BAR");
    std::fflush(stdout);
  }

  // `undisturbed`: the same statistic without an incident, if it was measured.
  void add(const Case& one, const std::vector<double>& all,
           const std::vector<double>& undisturbed = {}) {
    const Figures figures = figures_of(all);
    if (!all.empty()) medians_[one.name] = figures.median;
    const RecoveryVerdict verdict = judge(one.bar, all, undisturbed);
    note(verdict);
    print(one.name, one.sync, all.size(), figures, undisturbed.empty() ? verdict.text : "");
    nlohmann::ordered_json line{{"case", one.name},          {"sync", one.sync},
                                {"seconds", figures.median}, {"worst", figures.worst},
                                {"times", all.size()},       {"all", all}};
    if (!undisturbed.empty()) {
      const Figures effect = effect_of(all, undisturbed);
      print("  undisturbed", one.sync, undisturbed.size(), figures_of(undisturbed), "");
      print("  effect", one.sync, all.size(), effect, verdict.text);
      line["undisturbed"] = undisturbed;
      line["effect"] = effect.median;
      line["effect_worst"] = effect.worst;
    }
    if (verdict.is_met) line["is_met"] = *verdict.is_met;
    cli::write_line(json_, line.dump());
  }

  void compare(const char* ours, const char* theirs) {
    const RecoveryVerdict verdict = recovery::compare(medians_, ours, theirs, kTimesFasterMin);
    note(verdict);
    std::puts(verdict.text.c_str());
  }

  bool is_missed() const { return is_missed_; }

 private:
  static void print(const char* name, const char* sync, std::size_t times, const Figures& figures,
                    const std::string& bar) {
    std::printf("%-14s %-8s %5zu %12.1f %12.1f  %s\n", name, sync, times, figures.median * 1e3,
                figures.worst * 1e3, bar.c_str());
    std::fflush(stdout);
  }

  void note(const RecoveryVerdict& verdict) { is_missed_ |= !verdict.is_met.value_or(true); }

  cli::File json_;
  std::map<std::string, double> medians_;
  bool is_missed_ = false;
};

// torchrun restarts all workers after a failure.
void add_peer(Table& table, const Options& options) {
  const std::filesystem::path peer = beside("bench/peers/torch_recover");
  if (peer.empty()) {
    std::fputs("SKIPPED: no PyTorch: CMake found no Python with torch (make setup)\n", stderr);
    return;
  }
  std::vector<double> all;
  cli::run_program({.words = {peer.string(), "--ranks", std::to_string(kWorkers), "--times",
                              std::to_string(options.times)}},
                   Deadline::after(kPeerMax), [&](std::string_view text) {
                     const auto line = nlohmann::json::parse(text, nullptr, false);
                     if (line.is_object()) all.push_back(line.value("seconds", 0.0));
                   });
  table.add({.name = "torchrun", .incident = Incident::Kill, .sync = "ddp"}, all);
}

int measure(const Options& options) {
  const TemporaryFolder folder("bench-recovery");
  Table table(options);
  for (const Case& one : kCases) {
    const auto measured = recovery::measure({.incident = one.incident,
                                             .sync = one.sync,
                                             .workers = kWorkers,
                                             .times = options.times,
                                             .folder = folder.path() / one.name,
                                             .program = beside("trireme")});
    table.add(one, measured.lost, measured.undisturbed);
    if (&one != &kCases[0]) continue;
    table.add({"replacement", one.incident, one.sync, {.median_max = kReplacementMax}},
              measured.replacement);
    // A worker that joins delays the others by at most one step.
    table.add({"join", one.incident, one.sync, {.median_max = measured.step}}, measured.join);
  }
  if (options.has_peers) add_peer(table, options);
  for (const char* ours : {"kill", "kill_zero1"}) table.compare(ours, "torchrun");
  return table.is_missed() ? 1 : 0;
}

}  // namespace

cli::Command recovery_command() {
  cli::Command command("bench recovery",
                       "Measure how long the loss of a worker delays the others, training gpt-nano",
                       "trireme bench recovery --json recovery.jsonl --peers");
  const auto options = std::make_shared<Options>();
  command.option("--json", "FILE", "also write one JSON object per case there",
                 cli::set_text(options->json));
  command.option("--times", "N", "number of failures per case (default 10)",
                 cli::number("--times", cli::NumberRange<int>{1, 1000}, options->times));
  command.flag("--peers", "also measure PyTorch: torchrun, which restarts all ranks",
               options->has_peers);
  command.action([options] { return measure(*options); });
  return command;
}

}  // namespace trireme::bench::recovery
