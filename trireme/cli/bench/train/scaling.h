// How training scales with ranks, and what keeps it from scaling perfectly.
//
// Efficiency is what N ranks do together as a share of N times what one does alone. What is missing
// shows as time that a step takes longer than that of one rank, part by part: forward and backward
// where ranks share memory bandwidth, caches or cores, wait where they wait for each other.
//
// Threads: a pure function.

#pragma once

#include <span>
#include <string>

#include "trireme/cli/bench/train/record.h"

namespace trireme::cli::bench::train {

// `records` begin with one rank. REQUIRES: at least one.
std::string scaling_table(std::span<const TrainRecord> records, int cores);

}  // namespace trireme::cli::bench::train
