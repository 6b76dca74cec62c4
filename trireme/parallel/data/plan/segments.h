// segments_of() divides a shard of a bucket into runs that one optimizer call can update: adjacent
// parameters with the same update settings, without parameters that got no gradient.
//
// A run includes the padding between its parameters: its gradient, value and state are zero, and
// stay zero under every rule that maps zeros to zeros.
//
// Thread safety: a pure function.

#pragma once

#include <functional>
#include <span>
#include <vector>

#include "trireme/parallel/data/plan/bucket_plan.h"

namespace trireme::parallel::data {

struct Segment {
  ElementRange range;         // in the flat space
  std::size_t parameter = 0;  // any parameter of the run; all have the same settings

  friend bool operator==(const Segment&, const Segment&) = default;
};

// `is_used`: whether a parameter got a gradient. `group_of`: by parameter, its group in the plan.
// In a bucket of whole parameters (is_whole), each parameter is a segment.
std::vector<Segment> segments_of(const BucketPlan::Bucket& bucket, ElementRange slice,
                                 std::span<const int> group_of,
                                 const std::function<bool(std::size_t)>& is_used);

}  // namespace trireme::parallel::data
