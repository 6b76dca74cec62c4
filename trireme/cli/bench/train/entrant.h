// Entrant is somebody who trains one case: us, or PyTorch doing the same work. TrainSeries is what
// one entrant reached, round after round, in turns with the others.
//
// Comparing: the best round of each counts, since what else runs on a machine only ever slows;
//            beside it stands the median of the ratios round by round. Memory is a median.
// Threads:   values and pure functions.

#pragma once

#include <span>
#include <string>
#include <vector>

#include "trireme/cli/bench/train/options.h"
#include "trireme/cli/bench/train/record.h"
#include "trireme/cli/bench/turns.h"

namespace trireme::cli::bench::train {

inline constexpr const char* kPyTorch = "pytorch";

struct Entrant {
  std::string who = kOurs;
  TrainOptions options;  // whole

  // For people, and unique to the case: "trireme cnn, 2 x 1, shared".
  std::string label() const;
};

struct TrainSeries {
  Entrant entrant;
  std::vector<TrainRecord> rounds = {};

  // The fastest round, with the median of the memory; verified if every round was.
  // REQUIRES: at least one round.
  TrainRecord combined() const;
};

// Null if it has no round.
const TrainSeries* find(std::span<const TrainSeries> all, const Entrant& entrant);

// How many times as fast the first is as the second.
double times_as_fast(const TrainSeries& ours, const TrainSeries& theirs);
double times_as_fast_by_rounds(const TrainSeries& ours, const TrainSeries& theirs);

}  // namespace trireme::cli::bench::train
