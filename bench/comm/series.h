// Series is one case of one contender over all rounds; the contenders run in turns.
//
// Comparison:    rounds are compared in pairs, each of Trireme's rounds with the peer's round that
//                ran next to it, and the median of the ratios counts. Anything that slows down a
//                whole round, such as a busy machine, affects both.
// Thread safety: values and pure functions.

#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "bench/comm/record.h"
#include "bench/turns.h"

namespace trireme::bench {

// The contenders besides kOurs.
inline constexpr const char* kGloo = "gloo";
inline constexpr const char* kOpenMpi = "openmpi";

struct Series {
  std::string who;
  std::vector<CommRecord> rounds;  // of one case; at least one

  // The median of each figure; verified if every round was verified.
  CommRecord combined() const;
  double best_seconds() const;
};

// Adds the record to its series, or starts a new series.
void add(std::vector<Series>& all, const std::string& who, const CommRecord& record);

// The series of this case and contender, for any name of the backend; null if there is none.
const Series* find(std::span<const Series> all, const std::string& who, const CommRecord& of);

// The speed of `ours` relative to `theirs`.
double times_as_fast(const Series& ours, const Series& theirs);
// The same, comparing the best round of each.
double times_as_fast_at_best(const Series& ours, const Series& theirs);

}  // namespace trireme::bench
