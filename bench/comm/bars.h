// The bars are the performance targets of the collectives on a machine with two cores. This file
// defines the table of bars and compares measurements with it.
//
// Verdicts:      a bar without a measurement is neither met nor missed. A measurement with an
//                incorrect result meets no bar.
// Thread safety: pure functions.

#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "bench/comm/options.h"
#include "bench/comm/series.h"

namespace trireme::bench {

enum class Measure {
  TimesPeer,       // at least `limit` times as fast as `peer`
  TimesPeerBest,   // the same, comparing the best round of each
  ShareOfBound,    // at least `limit` times the rate of the bound
  Seconds,         // median at most `limit` seconds
  BytesPerSecond,  // at least `limit`
  ShareOfFloat32,  // at least `limit` times the byte rate of the same case in float32
};

struct Bar {
  std::string what;
  CommRecord of;  // the measured case
  Measure measure;
  double limit;
  std::string peer = {};  // for TimesPeer and TimesPeerBest
};

std::vector<Bar> all_bars();

struct Verdict {
  std::string what;
  std::string wanted;    // ">= 8 x gloo"
  std::string measured;  // "10.2 x", or the reason why it was not measured
  std::optional<bool> is_met;
};

Verdict judge(const Bar& bar, std::span<const Series> measured);

// One line per bar: name, target, measurement, verdict.
std::string table_of(std::span<const Verdict> verdicts);

// The runs that these bars require, each with all sizes that one run can measure. A run of a peer
// has its name as the backend.
std::vector<Options> runs_for(std::span<const Bar> bars);
// What this peer runs for comparison.
Options as_peer(Options options, const std::string& peer);

}  // namespace trireme::bench
