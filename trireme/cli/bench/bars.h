// The bars: how fast the collectives have to be on a machine of two cores, as a table, and the
// judgement over what was measured.
//
// Meaning: a bar that nothing was measured for is neither met nor missed. An answer that was not
//          right meets no bar.
// Threads: pure.

#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "trireme/cli/bench/options.h"
#include "trireme/cli/bench/series.h"

namespace trireme::cli::bench {

enum class Measure {
  TimesPeer,       // at least `limit` times as fast as `peer`
  TimesPeerBest,   // the same, the best round of each
  ShareOfBound,    // at least `limit` of the bound's rate
  Seconds,         // at most `limit` seconds, the median
  BytesPerSecond,  // at least `limit`
  ShareOfFloat32,  // at least `limit` of the byte rate of the same case in float32
};

struct Bar {
  std::string what;
  Record of;  // the case
  Measure measure;
  double limit;
  std::string peer = {};    // for TimesPeer and TimesPeerBest
  std::string who = kOurs;  // or kWire
};

std::vector<Bar> all_bars();

struct Verdict {
  std::string what;
  std::string wanted;    // ">= 8 x gloo"
  std::string measured;  // "10.2 x", or why not
  std::optional<bool> is_met;
};

Verdict judge(const Bar& bar, std::span<const Series> measured);

// A line a bar: what, wanted, measured, met.
std::string table_of(std::span<const Verdict> verdicts);

// What has to be run for these bars: ours, one Options for all sizes that one run can take; and of
// each peer, as if it was a backend.
std::vector<Options> our_runs_for(std::span<const Bar> bars);
std::vector<Options> peer_runs_for(std::span<const Bar> bars);

}  // namespace trireme::cli::bench
