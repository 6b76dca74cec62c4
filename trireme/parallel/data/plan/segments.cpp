#include "trireme/parallel/data/plan/segments.h"

#include <algorithm>

namespace trireme::parallel::data {

std::vector<Segment> segments_of(const BucketPlan::Bucket& bucket, ElementRange slice,
                                 std::span<const int> group_of,
                                 const std::function<bool(std::size_t)>& is_used) {
  std::vector<Segment> all;
  bool is_open = false;  // whether the last segment may be extended
  for (const BucketPlan::Entry& entry : bucket.entries) {
    const ElementRange part{std::max(entry.range.begin, slice.begin),
                            std::min(entry.range.end, slice.end)};
    const bool is_wanted = part.count() > 0 && is_used(entry.parameter);
    if (is_wanted && is_open && group_of[all.back().parameter] == group_of[entry.parameter]) {
      all.back().range.end = part.end;
    } else if (is_wanted) {
      all.push_back({.range = part, .parameter = entry.parameter});
    }
    is_open = (is_wanted && !bucket.is_whole) || (is_open && part.count() <= 0);
  }
  return all;
}

}  // namespace trireme::parallel::data
