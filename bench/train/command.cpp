#include <unistd.h>

#include <cstdio>
#include <memory>
#include <optional>
#include <utility>

#include "bench/commands.h"
#include "bench/train/bars.h"
#include "trireme/cli/json_file.h"

namespace trireme::bench::train {
namespace {

// Includes time to start, for a long step or two, and for a machine that is busy with other work.
Duration time_max(const TrainOptions& run) {
  // Over a slow link a dozen steps take minutes.
  const double slow = run.wire > 0 ? 2e11 / run.wire : 0;
  return std::chrono::duration_cast<Duration>(
      std::chrono::duration<double>(180 + slow + 10 * run.seconds + 10 * run.every));
}

// nullopt if the user interrupted it. With bars, a Trireme case that cannot run yet is one line in
// the table and does not end the benchmark.
std::optional<std::vector<TrainSeries>> measure(const std::vector<Entrant>& entrants,
                                                const TrainOptions& options) {
  const TrainTools tools = TrainTools::find();
  Turns turns;
  std::vector<TrainSeries> measured;
  for (const Entrant& entrant : entrants) {
    const bool may_fail = entrant.who != kOurs || options.has_bars;
    if (const std::string why = tools.why_not(entrant); may_fail && !why.empty()) {
      std::fprintf(stderr, "SKIPPED: %s\n", why.c_str());
      continue;
    }
    turns.add({.who = entrant.who,
               .label = entrant.label(),
               .program = tools.program_of(entrant),
               .time_max = time_max(entrant.options),
               .may_fail = may_fail});
    measured.push_back({entrant});
  }
  const int rounds = entrants.size() > 1 ? options.rounds : 1;
  const bool is_whole = turns.run(rounds, [&](const Contender& contender, std::string_view line) {
    const auto record = read_record(line);
    for (TrainSeries& series : measured) {
      if (record && series.entrant.label() == contender.label) series.rounds.push_back(*record);
    }
    return record.has_value();
  });
  if (!is_whole) return std::nullopt;
  std::erase_if(measured, [](const TrainSeries& series) { return series.rounds.empty(); });
  return measured;
}

bool print_records(const std::vector<TrainSeries>& measured, const cli::File& json) {
  bool is_right = true;
  std::puts(table_head().c_str());
  for (const TrainSeries& series : measured) {
    const TrainRecord record = series.combined();
    std::puts(table_line(record).c_str());
    cli::write_line(json, to_json(record));
    is_right &= record.is_verified;
  }
  return is_right;
}

void print_ratio(const std::vector<TrainSeries>& measured, const Entrant& ours,
                 const Entrant& theirs) {
  const TrainSeries* left = find(measured, ours);
  const TrainSeries* right = find(measured, theirs);
  if (left == nullptr || right == nullptr) return;
  const TrainRecord mine = left->combined(), other = right->combined();
  std::printf("\n%s: %.2f x %s, best against best; by rounds %.2f x\n", ours.label().c_str(),
              times_as_fast(*left, *right), theirs.label().c_str(),
              times_as_fast_by_rounds(*left, *right));
  std::printf("CPU time %.2f x, peak %.2f x, PSS %.2f x\n",
              mine.cpu_seconds_per_step / other.cpu_seconds_per_step,
              ratio_of_bytes(mine.peak_bytes, other.peak_bytes),
              ratio_of_bytes(mine.pss_bytes, other.pss_bytes));
}

// Our case, and what it is compared with.
std::vector<Entrant> compared(const TrainOptions& options) {
  const Entrant ours{kOurs, options.whole()};
  std::vector<Entrant> all{ours};
  // PyTorch with the same work; over a link also with its hooks for gradient compression.
  for (const char* hook : {"none", "fp16", "powersgd"}) {
    if (!options.has_peers || (options.wire == 0 && all.size() > 1)) break;
    all.push_back({kPyTorch, ours.options});
    TrainOptions& peer = all.back().options;
    peer.codec = hook;
    if (std::exchange(peer.every, 0) > 0) peer.sync = "all_reduce";  // PyTorch has no rounds
  }
  if (options.is_elastic) {
    all.push_back(ours);
    all.back().options.is_elastic = false;
  }
  return all;
}

std::vector<Entrant> scaled(const TrainOptions& options) {
  std::vector<Entrant> all;
  for (int ranks = 1; ranks <= options.scaling; ++ranks) {
    all.push_back({kOurs, options.whole()});
    TrainOptions& one = all.back().options;
    one.ranks = ranks;
    one.threads = options.threads > 0 ? options.threads : 1;
    if (ranks > 1) continue;
    one.sync = "auto";
    one.every = 0;
  }
  return all;
}

void print_scaling(const std::vector<TrainSeries>& measured) {
  std::vector<TrainRecord> records;
  for (const TrainSeries& series : measured) records.push_back(series.combined());
  const auto cores = static_cast<int>(::sysconf(_SC_NPROCESSORS_ONLN));
  std::printf("\n%s", scaling_table(records, cores).c_str());
}

// Returns whether every bar was met; a requested case that did not run counts as a failure.
bool print_bars(const std::vector<TrainBar>& bars, const std::vector<TrainSeries>& measured) {
  std::vector<Verdict> verdicts;
  bool is_met = true;
  for (const TrainBar& bar : bars) {
    verdicts.push_back(judge(bar, measured));
    is_met &= verdicts.back().is_met.value_or(bar.limit == 0);
  }
  std::printf("\n%s", table_of(verdicts).c_str());
  return is_met;
}

int run(const TrainOptions& options) {
  options.check();
  std::vector<TrainBar> bars;
  if (options.has_bars) bars = bars_for(options);
  const std::vector<Entrant> entrants = options.has_bars      ? entrants_of(bars)
                                        : options.scaling > 0 ? scaled(options)
                                                              : compared(options);
  const cli::File json = cli::open_json(options.json);
  const auto measured = measure(entrants, options);
  if (!measured) return kExitInterrupted;
  bool is_right = print_records(*measured, json);
  if (options.has_bars) {
    is_right &= print_bars(bars, *measured);
  } else if (options.scaling > 0) {
    print_scaling(*measured);
  } else {
    for (const Entrant& other : entrants) {
      if (&other != &entrants[0]) print_ratio(*measured, entrants[0], other);
    }
  }
  return is_right ? 0 : 1;
}

}  // namespace

cli::Command train_command() {
  cli::Command command("bench train", "Measure training, compared with PyTorch on the same work",
                       "trireme bench train --model cnn --ranks 2 --threads 1 --peers");
  const auto options = std::make_shared<TrainOptions>();
  add_case_options(command, options);
  add_program_options(command, options);
  command.action([options] { return run(*options); });
  return command;
}

}  // namespace trireme::bench::train
