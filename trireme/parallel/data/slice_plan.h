// SlicePlan is a BucketPlan of what one rank has of each bucket of another: its slices, as if the
// parts of parameters in them were parameters. What travels between hosts in slices is encoded by
// it.
//
// A whole parameter keeps its shape.
//
// Threads: pure.

#pragma once

#include <vector>

#include "trireme/checkpoint/state.h"
#include "trireme/parallel/data/layout.h"
#include "trireme/parallel/parameter.h"

namespace trireme::parallel::data {

struct SlicePlan {
  BucketPlan plan;  // as many buckets; slices lie end to end
  std::vector<Parameter> parameters;
  std::vector<checkpoint::Piece> parts;  // by parameter: of what it is one

  // Of this rank's slices of the layout; the parameters are views of its values.
  SlicePlan(const Layout& layout, const std::vector<Parameter>& parameters);
};

}  // namespace trireme::parallel::data
