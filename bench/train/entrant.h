// Entrant is a program that trains one case: Trireme, or PyTorch with the same work. TrainSeries is
// the results of one entrant over all rounds; the entrants run in turns.
//
// Comparison:    the best round of each entrant counts, since other load on the machine can only
//                slow a round down. The median of the ratios per round is printed next to it.
//                Memory is a median.
// Errors:        the path of a missing program is empty; program_of() throws NotFound with
//                why_not().
// Thread safety: values and pure functions, except find() of TrainTools.

#pragma once

#include <span>
#include <string>
#include <vector>

#include "bench/launch.h"
#include "bench/train/options.h"
#include "bench/train/record.h"
#include "bench/turns.h"

namespace trireme::bench::train {

inline constexpr const char* kPyTorch = "pytorch";

struct Entrant {
  std::string who = kOurs;
  TrainOptions options;  // without unset values, see TrainOptions::whole()

  // For people, and unique per case: "trireme cnn, 2 x 1, shared".
  std::string label() const;
};

// The programs that train.
struct TrainTools {
  Launch launch;
  std::filesystem::path rank;  // trireme-bench-train, one process per rank
  std::filesystem::path peer;  // bench/peers/torch_train, if CMake found a Python with torch

  // Looks next to the running program.
  static TrainTools find();

  cli::Program program_of(const Entrant& entrant) const;
  // Why this entrant cannot run here; empty if it can.
  std::string why_not(const Entrant& entrant) const;
};

struct TrainSeries {
  Entrant entrant;
  std::vector<TrainRecord> rounds = {};

  // The fastest round, with the median of the memory; verified if every round was verified.
  // REQUIRES: at least one round.
  TrainRecord combined() const;
};

// Returns null if it has no round.
const TrainSeries* find(std::span<const TrainSeries> all, const Entrant& entrant);

// The speed of the first relative to the second.
double times_as_fast(const TrainSeries& ours, const TrainSeries& theirs);
double times_as_fast_by_rounds(const TrainSeries& ours, const TrainSeries& theirs);
double ratio_of_bytes(std::int64_t ours, std::int64_t theirs);

}  // namespace trireme::bench::train
