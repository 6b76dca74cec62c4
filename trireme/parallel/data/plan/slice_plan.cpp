#include "trireme/parallel/data/plan/slice_plan.h"

namespace trireme::parallel::data {

SlicePlan::SlicePlan(const Layout& layout, const std::vector<Parameter>& of) {
  for (std::size_t b = 0; b < layout.plan.buckets.size(); ++b) {
    const ElementRange own = layout.own[b];
    const std::int64_t shift = own.begin - plan.count;
    BucketPlan::Bucket bucket{.range = {plan.count, plan.count + own.count()}, .entries = {}};
    for (const BucketPlan::Entry& entry : layout.plan.buckets[b].entries) {
      const ElementRange part = common(entry.range, own);
      if (part.count() <= 0) continue;
      const ElementRange range{part.begin - shift, part.end - shift};
      bucket.entries.push_back({.parameter = parameters.size(), .range = range});
      plan.bucket_of.push_back(b);
      plan.range_of.push_back(range);
      parameters.push_back(
          part_at(of[entry.parameter], part.begin - entry.range.begin, layout.values.at(b, part)));
    }
    plan.count += own.count();
    plan.buckets.push_back(std::move(bucket));
  }
}

}  // namespace trireme::parallel::data
