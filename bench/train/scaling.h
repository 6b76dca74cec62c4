// Shows how training scales with the number of ranks, and what limits the scaling.
//
// Efficiency is the throughput of N ranks divided by N times the throughput of one rank. Lost
// efficiency shows as time that a step takes longer than with one rank, per phase: forward and
// backward if ranks share memory bandwidth, caches or cores; wait if they wait for each other.
//
// Thread safety: a pure function.

#pragma once

#include <span>
#include <string>

#include "bench/train/record.h"

namespace trireme::bench::train {

// REQUIRES: `records` is not empty and begins with one rank.
std::string scaling_table(std::span<const TrainRecord> records, int cores);

}  // namespace trireme::bench::train
