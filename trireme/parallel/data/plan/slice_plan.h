// SlicePlan is a BucketPlan of one rank's shards of the buckets of another plan. The parts of
// parameters in these shards are its parameters. A codec uses it to encode shards that are sent
// between hosts.
//
// A parameter that is completely in the shard keeps its shape.
//
// Thread safety: a value.

#pragma once

#include <vector>

#include "trireme/parallel/data/storage/layout.h"
#include "trireme/parallel/parameter.h"

namespace trireme::parallel::data {

struct SlicePlan {
  BucketPlan plan;                    // the same number of buckets; shards are contiguous
  std::vector<Parameter> parameters;  // parts, with their begin

  // For this rank's shards of the layout; the parameters are views of its values.
  SlicePlan(const Layout& layout, const std::vector<Parameter>& parameters);
};

}  // namespace trireme::parallel::data
