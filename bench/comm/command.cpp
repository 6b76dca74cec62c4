#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <functional>
#include <memory>

#include "bench/comm/bars.h"
#include "bench/comm/options.h"
#include "bench/comm/series.h"
#include "bench/comm/tools.h"
#include "bench/commands.h"
#include "trireme/cli/json_file.h"

namespace trireme::bench {
namespace {

using cli::File;
using cli::open_json;

constexpr double kWireBits = 1e9;
constexpr double kTurnMin = 0.2;  // seconds per case and round

void write_json(const File& file, const CommRecord& record) {
  if (!file) return;
  std::fprintf(file.get(), "%s\n", to_public_json(record).c_str());
  std::fflush(file.get());
}

std::string label_of(const Options& run) {
  return fmt::format("{}{} {}, {} ranks", run.backend, run.is_symmetric ? " symmetric" : "",
                     run.type, run.ranks);
}

// Time limit of a run, with room for its start, the check of results and a busy machine.
Duration time_max(const Options& run) {
  const double seconds = 120 + static_cast<double>(run.sizes.size()) * (60 + 10 * run.seconds);
  return std::chrono::duration_cast<Duration>(std::chrono::duration<double>(seconds));
}

Contender our_contender(const Tools& tools, const Options& run) {
  return {kOurs, label_of(run), tools.ours(run), time_max(run)};
}

void add_peer(Turns& turns, const Tools& tools, const Options& run) {
  const std::string why_not = tools.why_no_peer(run.backend);
  if (!why_not.empty()) {
    std::fprintf(stderr, "SKIPPED: %s\n", why_not.c_str());
    return;
  }
  turns.add({.who = run.backend,
             .label = label_of(run),
             .program = tools.peer(run),
             .time_max = time_max(run),
             .may_fail = true});
}

void add_wire(Turns& turns, const Tools& tools, double seconds) {
  const std::string why_not = tools.launch.why_no_wire();
  if (!why_not.empty()) {
    std::fprintf(stderr, "SKIPPED: %s\n", why_not.c_str());
    return;
  }
  Options run;
  run.backend = "tcp";
  run.sizes = {std::size_t{64} << 20};
  run.seconds = seconds;
  turns.add({.who = kWire,
             .label = "tcp over 1 Gbit/s, 2 ranks",
             .program = tools.over_wire(run, kWireBits),
             .time_max = time_max(run),
             .rounds = 1,
             .may_fail = true});
}

// Returns false if the user interrupted it.
bool run_rounds(const Turns& turns, int rounds,
                const std::function<void(const std::string& who, const CommRecord&)>& on_record) {
  return turns.run(rounds, [&](const Contender& contender, std::string_view line) {
    const auto record = read_record(line);
    if (record) on_record(contender.who, *record);
    return record.has_value();
  });
}

int run_alone(const Options& options) {
  const File json = open_json(options.json);
  bool is_right = true;
  Turns turns;
  turns.add(our_contender(Tools::find(), options));
  std::puts(table_head().c_str());
  const bool is_whole = run_rounds(turns, 1, [&](const std::string&, const CommRecord& record) {
    std::puts(table_line(record).c_str());
    std::fflush(stdout);
    write_json(json, record);
    is_right &= record.is_verified;
  });
  if (!is_whole) return kExitInterrupted;
  return is_right ? 0 : 1;
}

void print_ratios(const std::vector<Series>& all) {
  for (const Series& ours : all) {
    if (ours.who != kOurs) continue;
    for (const char* peer : {kGloo, kOpenMpi}) {
      const Series* theirs = find(all, peer, ours.rounds.front());
      if (theirs == nullptr) continue;
      const CommRecord& of = ours.rounds.front();
      std::printf("%s%s %s, %d ranks: %.2f x %s (best against best %.2f x)\n", of.backend.c_str(),
                  of.is_symmetric ? " symmetric" : "", size_text(of.bytes).c_str(), of.ranks,
                  times_as_fast(ours, *theirs), peer, times_as_fast_at_best(ours, *theirs));
    }
  }
}

// Prints the measured bars, or all of them. Returns whether no bar was missed.
bool print_bars(const std::vector<Series>& all, bool is_whole_table) {
  std::vector<Verdict> verdicts;
  bool is_met = true;
  for (const Bar& bar : all_bars()) {
    Verdict verdict = judge(bar, all);
    is_met &= verdict.is_met.value_or(true);
    if (is_whole_table || verdict.is_met) verdicts.push_back(std::move(verdict));
  }
  if (!verdicts.empty()) std::printf("\n%s", table_of(verdicts).c_str());
  return is_met;
}

int finish(const std::vector<Series>& all, const Options& options, const File& json) {
  bool is_right = true;
  std::puts(table_head().c_str());
  for (const Series& series : all) {
    const CommRecord record = series.combined();
    std::puts(table_line(record).c_str());
    write_json(json, record);
    is_right &= record.is_verified;
  }
  std::puts("");
  print_ratios(all);
  const bool is_met = print_bars(all, options.has_bars);
  return is_right && (is_met || !options.has_bars) ? 0 : 1;
}

int run_turns(const Turns& turns, const Options& options) {
  const File json = open_json(options.json);
  std::vector<Series> all;
  const bool is_whole =
      run_rounds(turns, options.rounds,
                 [&](const std::string& who, const CommRecord& record) { add(all, who, record); });
  return is_whole ? finish(all, options, json) : kExitInterrupted;
}

double turn_seconds(const Options& options) {
  return std::max(kTurnMin, options.seconds / options.rounds);
}

int run_with_peers(const Options& options) {
  const Tools tools = Tools::find();
  Turns turns;
  Options turn = options;
  turn.seconds = turn_seconds(options);
  turns.add(our_contender(tools, turn));
  for (const char* peer : {kGloo, kOpenMpi}) {
    turn.backend = peer;
    turn.is_symmetric = false;
    add_peer(turns, tools, turn);
  }
  return run_turns(turns, options);
}

int run_bars(const Options& options) {
  const Tools tools = Tools::find();
  const std::vector<Bar> bars = all_bars();
  Turns turns;
  for (Options run : our_runs_for(bars)) {
    run.seconds = turn_seconds(options);
    turns.add(our_contender(tools, run));
  }
  for (Options run : peer_runs_for(bars)) {
    run.seconds = turn_seconds(options);
    add_peer(turns, tools, run);
  }
  add_wire(turns, tools, options.seconds);
  return run_turns(turns, options);
}

int run_bench(const Options& options) {
  options.check();
  if (options.has_bars) return run_bars(options);
  return options.has_peers ? run_with_peers(options) : run_alone(options);
}

}  // namespace

cli::Command comm_command() {
  cli::Command command("bench comm",
                       "Measure collectives, compared with hardware limits, Gloo and Open MPI",
                       "trireme bench comm --ranks 2 --backend shm --op all_reduce --symmetric");
  const auto options = std::make_shared<Options>();
  add_case_options(command, options);
  add_program_options(command, options);
  command.action([options] { return run_bench(*options); });
  return command;
}

}  // namespace trireme::bench
