// Series is one case as one contender ran it, round after round, in turns with the others.
//
// Comparing: rounds are compared in pairs, one of ours with the one of theirs that ran beside it,
//            and the median of these ratios counts: what slows a whole round, such as a busy
//            machine, slows both.
// Threads:   values and pure functions.

#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "trireme/cli/bench/record.h"
#include "trireme/cli/bench/turns.h"

namespace trireme::cli::bench {

// Who ran a case besides kOurs. "wire" is us too, over a network of known speed.
inline constexpr const char* kWire = "wire";
inline constexpr const char* kGloo = "gloo";
inline constexpr const char* kOpenMpi = "openmpi";

struct Series {
  std::string who;
  std::vector<Record> rounds;  // of one case; at least one

  // The median of each figure; verified if every round was.
  Record combined() const;
  double best_seconds() const;
};

// Adds the record to its series, or begins one.
void add(std::vector<Series>& all, const std::string& who, const Record& record);

// The series of this case by that contender, whatever its backend is called; null if there is none.
const Series* find(std::span<const Series> all, const std::string& who, const Record& of);

// How many times as fast `ours` is as `theirs`.
double times_as_fast(const Series& ours, const Series& theirs);
// The same, of the best round of each.
double times_as_fast_at_best(const Series& ours, const Series& theirs);

}  // namespace trireme::cli::bench
