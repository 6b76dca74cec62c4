// The bars: how fast and how small training has to be on a machine of two cores, against PyTorch
// and against ourselves, as a table, and the judgement over what was measured.
//
// Meaning: a bar that nothing was measured for is neither met nor missed; nor is one without a
//          limit, which is there to be read. A training that went wrong meets no bar.
// Threads: pure.

#pragma once

#include <span>
#include <string>
#include <vector>

#include "trireme/cli/bench/bars.h"
#include "trireme/cli/bench/train/entrant.h"

namespace trireme::cli::bench::train {

enum class TrainMeasure {
  Speed,      // at least `limit` times as many units a second
  PeakBytes,  // at most `limit` times as many bytes a rank
  PssBytes,   // the same of all ranks' proportional set sizes
};

struct TrainBar {
  Entrant ours;
  Entrant other;
  TrainMeasure measure = TrainMeasure::Speed;
  double limit = 0;  // 0: none, only printed
};

std::vector<TrainBar> all_bars();
// Those of this model and this many ranks, where they are named.
std::vector<TrainBar> bars_for(const TrainOptions& options);

bench::Verdict judge(const TrainBar& bar, std::span<const TrainSeries> measured);

// Everybody once, each of ours followed by what it is compared with.
std::vector<Entrant> entrants_of(std::span<const TrainBar> bars);

}  // namespace trireme::cli::bench::train
