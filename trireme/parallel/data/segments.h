// Segments cuts a slice of a bucket into runs that one optimizer call can update: elements of
// parameters that are updated alike, without those that got no gradient.
//
// Padding between two parameters of a run belongs to it: its gradient, value and state are zero,
// and stay so under every rule that leaves zeros alone.
//
// Threads: pure.

#pragma once

#include <functional>
#include <span>
#include <vector>

#include "trireme/parallel/data/bucket_plan.h"

namespace trireme::parallel::data {

struct Segment {
  ElementRange range;         // in the flat space
  std::size_t parameter = 0;  // one of the run: all are updated alike

  friend bool operator==(const Segment&, const Segment&) = default;
};

// `is_used` by parameter; `group` as in the plan. A bucket of whole parameters has a segment for
// each.
std::vector<Segment> segments_of(const BucketPlan::Bucket& bucket, ElementRange slice,
                                 std::span<const int> group_of,
                                 const std::function<bool(std::size_t)>& is_used);

}  // namespace trireme::parallel::data
