// The last words of a job: which rank failed, how, and what it wrote last; and numbers in words of
// ours.
//
// Threads: pure.

#pragma once

#include <functional>
#include <span>
#include <string>
#include <string_view>

#include "trireme/cluster/launch/output/tail.h"
#include "trireme/cluster/launch/rank_exit.h"

namespace trireme::cluster::launch {

// Lines of text, empty when no rank failed by itself. The rank to blame comes last, so that it
// stands at the bottom of a terminal; of the others that failed at most eight are named. `noun`
// is what a rank is called.
std::string report_failure(std::span<const RankExit> in_order_seen,
                           const std::function<const output::Tail&(int rank)>& tail_of,
                           std::string_view noun = "rank");

// Without zeros that say nothing: 5 and 0.25.
std::string plain_number(double number);

}  // namespace trireme::cluster::launch
