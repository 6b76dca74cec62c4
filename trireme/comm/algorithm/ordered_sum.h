// A sum over slots whose bits do not depend on who holds which slot.
//
// The slots are the leaves of one binary tree (tree_middle). A rank first adds up the largest
// subtrees that it holds alone; these partial sums are cut into slices, one a rank; every rank
// finishes the tree for its slice; the slices are gathered. The additions are those of the tree
// whatever the owners, so the result is too. 16-bit shares travel and add up as float32.
//
// Cost: two exchanges; (partials of a rank) x count elements sent, then count gathered.

#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "trireme/comm/backend.h"
#include "trireme/comm/span.h"

namespace trireme::comm {

struct SlotShare;

// A subtree that one rank holds alone: slots [first, last).
struct Partial {
  int first = 0;
  int last = 0;
  int owner = 0;

  friend bool operator==(const Partial&, const Partial&) = default;
};

// The largest such subtrees, from left to right.
std::vector<Partial> partials_of(std::span<const int> owners);

struct OrderedShares {
  std::vector<int> owners;
  std::vector<const void*> data;  // by slot; null for those of other ranks
};

// Throws Misuse unless `mine` are exactly the slots that `owners` gives to `rank`, each of the
// type and count of `out`.
OrderedShares check_shares(Span out, std::span<const SlotShare> mine, std::span<const int> owners,
                           int rank, int size);

// On one rank, without a backend.
void sum_alone(const Operation& op, const OrderedShares& shares);

// Uses sequence numbers op.sequence and op.sequence + 1.
Task ordered_sum(Backend& backend, const Operation& op, OrderedShares shares);

}  // namespace trireme::comm
