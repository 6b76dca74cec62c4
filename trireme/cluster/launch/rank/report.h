// The final report of a job: which rank failed, how, and its last output. Also formats numbers.
//
// Thread safety: pure functions.

#pragma once

#include <functional>
#include <span>
#include <string>
#include <string_view>

#include "trireme/cluster/launch/output/tail.h"
#include "trireme/cluster/launch/rank/rank_exit.h"

namespace trireme::cluster::launch {

// Lines of text, empty if no rank failed by itself. The rank to blame comes last, so that it is at
// the bottom of the terminal. Of the other failed ranks at most eight are listed, without those
// that failed because they lost a peer or because of the same user error. `noun` is what a rank is
// called. The reasons are those that the ranks reported, otherwise how they ended.
std::string report_failure(std::span<const RankExit> in_order_seen,
                           const std::function<const output::Tail&(int rank)>& tail_of,
                           std::string_view noun = "rank");

// Without trailing zeros: 5 and 0.25.
std::string plain_number(double number);

}  // namespace trireme::cluster::launch
