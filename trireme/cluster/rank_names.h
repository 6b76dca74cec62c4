// How messages format sets of ranks and durations.

#pragma once

#include <span>
#include <string>

#include "trireme/base/clock.h"

namespace trireme::cluster {

// "rank 3", "ranks 3, 7-9", "no rank". REQUIRES: ascending.
std::string name_ranks(std::span<const int> ranks);

// "5.0 s", "12 ms".
std::string name_seconds(Duration time);

}  // namespace trireme::cluster
