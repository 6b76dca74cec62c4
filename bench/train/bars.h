// The performance targets (bars) of training on a machine with two cores: speed and memory compared
// with PyTorch and with other Trireme configurations. This file defines the table of bars and
// compares measurements with it.
//
// Verdicts:      a bar without a measurement is neither met nor missed. Nor is a bar without a
//                limit, which is only printed. A training run that failed its verification meets no
//                bar.
// Thread safety: pure functions.

#pragma once

#include <span>
#include <vector>

#include "bench/comm/bars.h"
#include "bench/train/entrant.h"

namespace trireme::bench::train {

enum class TrainMeasure {
  Speed,      // at least `limit` times the units per second
  PeakBytes,  // at most `limit` times the peak bytes per rank
  PssBytes,   // the same for the sum of all ranks' proportional set sizes
};

struct TrainBar {
  Entrant ours;
  Entrant other;
  TrainMeasure measure = TrainMeasure::Speed;
  double limit = 0;  // 0: no limit, only printed
};

std::vector<TrainBar> all_bars();
// The bars of the requested model and number of ranks, if these are given.
std::vector<TrainBar> bars_for(const TrainOptions& options);

bench::Verdict judge(const TrainBar& bar, std::span<const TrainSeries> measured);

// All entrants without duplicates; each Trireme entrant is followed by the one it is compared with.
std::vector<Entrant> entrants_of(std::span<const TrainBar> bars);

}  // namespace trireme::bench::train
