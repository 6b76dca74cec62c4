// A sum over logical ranks that is bitwise identical for every assignment of logical ranks to
// ranks.
//
// The logical ranks are the leaves of one binary tree (tree_middle). Each rank first sums the
// largest subtrees of which it holds all logical ranks. These partial sums are cut into slices, one
// per rank. Each rank completes the tree for its slice, and the slices are gathered. The additions
// are always those of the tree, so the result does not depend on the owners. 16-bit shares are sent
// and added as float32.
//
// Cost: two exchanges; (partial sums per rank) x count elements sent, then count elements gathered.

#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "trireme/comm/backend.h"
#include "trireme/comm/span.h"

namespace trireme::comm {

struct LogicalShare;

// A subtree whose logical ranks [first, last) are all held by one rank.
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
  std::vector<const void*> data;  // by logical rank; null for the logical ranks of other ranks
};

// Errors: throws Misuse unless `mine` contains exactly the logical ranks that `owners` assigns to
// `rank`, each with the type and count of `out`.
OrderedShares check_shares(Span out, std::span<const LogicalShare> mine,
                           std::span<const int> owners, int rank, int size);

// For a group with one rank; needs no backend.
void sum_alone(const Operation& op, const OrderedShares& shares);

// Uses sequence numbers op.sequence and op.sequence + 1.
Task ordered_sum(Backend& backend, const Operation& op, OrderedShares shares);

}  // namespace trireme::comm
