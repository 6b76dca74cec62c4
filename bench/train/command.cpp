#include <unistd.h>

#include <cstdio>
#include <memory>
#include <utility>

#include "bench/commands.h"
#include "bench/train/bars.h"
#include "bench/train/scaling.h"
#include "bench/train/tools.h"
#include "trireme/cli/json_file.h"

namespace trireme::bench::train {
namespace {

using cli::File;
using cli::open_json;

// Includes time to start, for a long step or two, and for a machine that is busy with other work.
Duration time_max(const TrainOptions& run) {
  // Over a slow link a dozen steps take minutes.
  const double slow = run.wire > 0 ? 2e11 / run.wire : 0;
  return std::chrono::duration_cast<Duration>(
      std::chrono::duration<double>(180 + slow + 10 * run.seconds + 10 * run.every));
}

struct MeasuredSeries {
  std::vector<TrainSeries> series;
  bool is_whole = true;  // the user did not interrupt it
};

// With bars, a Trireme case that cannot run yet is one line in the table and does not end the
// benchmark.
MeasuredSeries measure(const std::vector<Entrant>& entrants, const TrainOptions& options) {
  const TrainTools tools = TrainTools::find();
  Turns turns;
  MeasuredSeries measured;
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
    measured.series.push_back({entrant});
  }
  const bool has_turns =
      options.has_peers || options.is_elastic || options.has_bars || options.scaling > 0;
  const int rounds = has_turns ? options.rounds : 1;
  measured.is_whole = turns.run(rounds, [&](const Contender& contender, std::string_view line) {
    const auto record = read_record(line);
    for (TrainSeries& series : measured.series) {
      if (record && series.entrant.label() == contender.label) series.rounds.push_back(*record);
    }
    return record.has_value();
  });
  return measured;
}

bool print_records(const MeasuredSeries& measured, const File& json) {
  bool is_right = true;
  std::puts(table_head().c_str());
  for (const TrainSeries& series : measured.series) {
    if (series.rounds.empty()) continue;
    const TrainRecord record = series.combined();
    std::puts(table_line(record).c_str());
    if (json) std::fprintf(json.get(), "%s\n", to_json(record).c_str());
    is_right &= record.is_verified;
  }
  return is_right;
}

double ratio(std::int64_t ours, std::int64_t theirs) {
  return theirs > 0 ? static_cast<double>(ours) / static_cast<double>(theirs) : 0;
}

void print_ratio(const MeasuredSeries& measured, const Entrant& ours, const Entrant& theirs) {
  const TrainSeries* left = find(measured.series, ours);
  const TrainSeries* right = find(measured.series, theirs);
  if (left == nullptr || right == nullptr) return;
  const TrainRecord mine = left->combined(), other = right->combined();
  std::printf("\n%s: %.2f x %s, best against best; by rounds %.2f x\n", ours.label().c_str(),
              times_as_fast(*left, *right), theirs.label().c_str(),
              times_as_fast_by_rounds(*left, *right));
  std::printf("CPU time %.2f x, peak %.2f x, PSS %.2f x\n",
              mine.cpu_seconds_per_step / other.cpu_seconds_per_step,
              ratio(mine.peak_bytes, other.peak_bytes), ratio(mine.pss_bytes, other.pss_bytes));
}

// PyTorch with the same work; over a link also with the gradient compression hooks that PyTorch
// has.
std::vector<Entrant> peers_of(const TrainOptions& ours) {
  TrainOptions plain = ours;
  plain.codec = "none";
  if (std::exchange(plain.every, 0) > 0) plain.sync = "all_reduce";  // PyTorch has no rounds
  std::vector<Entrant> peers{{kPyTorch, plain}};
  if (ours.wire == 0) return peers;
  for (const char* hook : {"fp16", "powersgd"}) {
    peers.push_back({kPyTorch, plain});
    peers.back().options.codec = hook;
  }
  return peers;
}

int run_one(const TrainOptions& options) {
  const File json = open_json(options.json);
  const Entrant ours{kOurs, options.whole()};
  std::vector<Entrant> peers;
  if (options.has_peers) peers = peers_of(ours.options);
  if (options.is_elastic) {
    peers.push_back(ours);
    peers.back().options.is_elastic = false;
  }
  std::vector<Entrant> entrants{ours};
  entrants.insert(entrants.end(), peers.begin(), peers.end());
  const MeasuredSeries measured = measure(entrants, options);
  if (!measured.is_whole) return kExitInterrupted;
  const bool is_right = print_records(measured, json);
  for (const Entrant& peer : peers) print_ratio(measured, ours, peer);
  return is_right ? 0 : 1;
}

int run_scaling(const TrainOptions& options) {
  const File json = open_json(options.json);
  std::vector<Entrant> entrants;
  for (int ranks = 1; ranks <= options.scaling; ++ranks) {
    TrainOptions one = options.whole();
    one.ranks = ranks;
    one.threads = options.threads > 0 ? options.threads : 1;
    if (ranks == 1) {
      one.sync = "auto";
      one.every = 0;
    }
    entrants.push_back({kOurs, one});
  }
  const MeasuredSeries measured = measure(entrants, options);
  if (!measured.is_whole) return kExitInterrupted;
  const bool is_right = print_records(measured, json);
  std::vector<TrainRecord> records;
  for (const TrainSeries& series : measured.series) records.push_back(series.combined());
  const auto cores = static_cast<int>(::sysconf(_SC_NPROCESSORS_ONLN));
  std::printf("\n%s", scaling_table(records, cores).c_str());
  return is_right ? 0 : 1;
}

int run_bars(const TrainOptions& options) {
  const File json = open_json(options.json);
  const std::vector<TrainBar> bars = bars_for(options);
  const MeasuredSeries measured = measure(entrants_of(bars), options);
  if (!measured.is_whole) return kExitInterrupted;
  bool is_fine = print_records(measured, json);
  std::vector<Verdict> verdicts;
  for (const TrainBar& bar : bars) {
    verdicts.push_back(judge(bar, measured.series));
    // A requested case that did not run counts as a failure.
    is_fine &= verdicts.back().is_met.value_or(bar.limit == 0);
  }
  std::printf("\n%s", table_of(verdicts).c_str());
  return is_fine ? 0 : 1;
}

}  // namespace

cli::Command train_command() {
  cli::Command command("bench train", "Measure training, compared with PyTorch on the same work",
                       "trireme bench train --model cnn --ranks 2 --threads 1 --peers");
  const auto options = std::make_shared<TrainOptions>();
  add_case_options(command, options);
  add_program_options(command, options);
  command.action([options] {
    options->check();
    if (options->has_bars) return run_bars(*options);
    return options->scaling > 0 ? run_scaling(*options) : run_one(*options);
  });
  return command;
}

}  // namespace trireme::bench::train
