// CommitResult is what every rank knows after a step's commit; Contribution and Reduced are what
// each of them contributed: its training loop, and its synchronization strategy.
//
// Thread safety: values.

#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <vector>

#include "trireme/parallel/traffic.h"

namespace trireme::parallel {

// Further sums over all ranks besides the loss; the caller defines their meaning.
using ReportedSums = std::array<double, 4>;

// What the training loop of a rank contributes to a step.
struct Contribution {
  double loss = 0;
  ReportedSums reported{};
  bool is_stop_wanted = false;    // this rank was asked to end
  bool is_change_wanted = false;  // ranks wait to join or leave
  double terms = 0;               // number of terms of its loss; needed if ranks may be left out
};

// What its synchronization strategy contributes.
struct Reduced {
  double squared_norm = 0;    // of the elements that this rank is the first holder of
  std::vector<bool> flags{};  // the strategy's own; in the result, those that any rank set
  bool can_change = true;     // ranks may join or leave after this step
  Traffic traffic{};
  bool is_left_out = false;  // this replica
};

// Where ranks have different parameters, as the stages of a pipeline do, each has a range of its
// own of the flags, which say by parameter whether it was used.
struct CommitFlags {
  std::size_t begin = 0;  // of this rank's parameters
  std::size_t count = 0;  // of all ranks; 0: they have the same parameters
};

struct CommitResult {
  double loss = 0;                // the sum over all ranks that share a model
  ReportedSums reported{};        // likewise
  bool is_stop_wanted = false;    // a rank was asked to end: all ranks end after this step
  bool is_change_wanted = false;  // ranks wait to join or leave, and may after this step
  double norm = 0;                // of the whole gradient, if the plan asked for it
  bool is_finite = true;          // loss and norm
  std::vector<bool> flags{};
  Traffic traffic{};
  std::vector<int> left_out{};  // replicas that do not count, ascending
  double share = 1;             // of the loss's terms that the other replicas contributed
};

}  // namespace trireme::parallel
