#include "trireme/parallel/data/slice_plan.h"

namespace trireme::parallel::data {

std::string name_of_part(const std::string& name, std::int64_t begin, std::int64_t count) {
  return name + "@" + std::to_string(begin) + "+" + std::to_string(count);
}

SlicePlan::SlicePlan(const Layout& layout, const std::vector<Parameter>& of) {
  for (std::size_t b = 0; b < layout.plan.buckets.size(); ++b) {
    const ElementRange own = layout.own[b];
    const std::int64_t shift = own.begin - plan.count;
    BucketPlan::Bucket bucket{.range = {plan.count, plan.count + own.count()}, .entries = {}};
    for (const BucketPlan::Entry& entry : layout.plan.buckets[b].entries) {
      const ElementRange part = common(entry.range, own);
      if (part.count() <= 0) continue;
      const Parameter& whole = of[entry.parameter];
      const at::Tensor values = layout.values.at(b, part);
      const bool is_whole = part == entry.range;
      const std::int64_t begin = part.begin - entry.range.begin;
      const ElementRange range{part.begin - shift, part.end - shift};
      bucket.entries.push_back({.parameter = parameters.size(), .range = range});
      plan.bucket_of.push_back(b);
      plan.range_of.push_back(range);
      parameters.push_back(
          {.name = is_whole ? whole.name : name_of_part(whole.name, begin, part.count()),
           .tensor = is_whole ? values.view(whole.tensor.sizes()) : values});
    }
    plan.count += own.count();
    plan.buckets.push_back(std::move(bucket));
  }
}

}  // namespace trireme::parallel::data
