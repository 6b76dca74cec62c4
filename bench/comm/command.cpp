#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <memory>

#include "bench/comm/bars.h"
#include "bench/comm/options.h"
#include "bench/comm/series.h"
#include "bench/comm/tools.h"
#include "bench/commands.h"
#include "trireme/cli/json_file.h"

namespace trireme::bench {
namespace {

constexpr double kTurnMin = 0.2;  // seconds per case and round

// Time limit of a run, with room for its start, the check of results and a busy machine.
Duration time_max(const Options& run) {
  const double seconds = 120 + static_cast<double>(run.sizes.size()) * (60 + 10 * run.seconds);
  return std::chrono::duration_cast<Duration>(std::chrono::duration<double>(seconds));
}

// What cannot run here is an error for our ranks on one host, and left out otherwise.
void add(Turns& turns, const Tools& tools, const Options& run) {
  const bool is_peer = run.backend == kGloo || run.backend == kOpenMpi;
  const bool may_fail = is_peer || run.wire > 0;
  if (const std::string why = tools.why_not(run); may_fail && !why.empty()) {
    std::fprintf(stderr, "SKIPPED: %s\n", why.c_str());
    return;
  }
  turns.add({.who = is_peer ? run.backend : kOurs,
             .label = fmt::format("{}{} {}, {} ranks", run.backend,
                                  run.is_symmetric ? " symmetric"
                                  : run.wire > 0   ? " over a wire"
                                                   : "",
                                  run.type, run.ranks),
             .program = tools.program_of(run),
             .time_max = time_max(run),
             .rounds = run.wire > 0 ? 1 : 0,
             .may_fail = may_fail});
}

std::vector<Options> runs_of(const Options& options) {
  std::vector<Options> runs{options};
  if (options.has_bars) {
    runs = runs_for(all_bars());
  } else if (options.has_peers) {
    for (const char* peer : {kGloo, kOpenMpi}) runs.push_back(as_peer(options, peer));
  } else {
    return runs;
  }
  for (Options& run : runs) {
    // A run over a link has one round.
    const int rounds = run.wire > 0 ? 1 : options.rounds;
    run.seconds = std::max(kTurnMin, options.seconds / rounds);
  }
  return runs;
}

// Returns whether the result was correct.
bool print(const CommRecord& record, const cli::File& json) {
  std::puts(table_line(record).c_str());
  std::fflush(stdout);
  cli::write_line(json, to_public_json(record));
  return record.is_verified;
}

void print_ratios(const std::vector<Series>& all) {
  for (const Series& ours : all) {
    if (ours.who != kOurs) continue;
    for (const char* peer : {kGloo, kOpenMpi}) {
      const CommRecord& of = ours.rounds.front();
      const Series* theirs = find(all, peer, of);
      if (theirs == nullptr) continue;
      std::printf("%s%s %s, %d ranks: %.2f x %s (best against best %.2f x)\n", of.backend.c_str(),
                  of.is_symmetric ? " symmetric" : "", size_text(of.bytes).c_str(), of.ranks,
                  times_as_fast(ours, *theirs), peer, times_as_fast_at_best(ours, *theirs));
    }
  }
}

// Returns whether no bar was missed.
bool print_bars(const std::vector<Series>& all) {
  std::vector<Verdict> verdicts;
  for (const Bar& bar : all_bars()) verdicts.push_back(judge(bar, all));
  std::printf("\n%s", table_of(verdicts).c_str());
  return std::ranges::all_of(verdicts, [](const Verdict& v) { return v.is_met.value_or(true); });
}

// Without a comparison every result is printed at once, otherwise the medians at the end.
int run_bench(const Options& options) {
  options.check();
  const cli::File json = cli::open_json(options.json);
  const Tools tools = Tools::find();
  const bool is_compared = options.has_bars || options.has_peers;
  Turns turns;
  for (const Options& run : runs_of(options)) add(turns, tools, run);
  std::vector<Series> all;
  bool is_right = true;
  if (!is_compared) std::puts(table_head().c_str());
  const bool is_whole = turns.run(is_compared ? options.rounds : 1,
                                  [&](const Contender& contender, std::string_view line) {
                                    const auto record = read_record(line);
                                    if (record && is_compared) add(all, contender.who, *record);
                                    if (record && !is_compared) is_right &= print(*record, json);
                                    return record.has_value();
                                  });
  if (!is_whole) return kExitInterrupted;
  if (!is_compared) return is_right ? 0 : 1;
  std::puts(table_head().c_str());
  for (const Series& series : all) is_right &= print(series.combined(), json);
  std::puts("");
  print_ratios(all);
  if (options.has_bars) is_right &= print_bars(all);
  return is_right ? 0 : 1;
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
