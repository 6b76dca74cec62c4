#include "trireme/parallel/data/plan/bucket_plan.h"

#include <algorithm>

#include "trireme/base/check.h"

namespace trireme::parallel::data {
namespace {

std::int64_t round_up(std::int64_t value, std::int64_t step) {
  return (value + step - 1) / step * step;
}

}  // namespace

BucketPlan BucketPlan::make(std::span<const Parameter> parameters,
                            std::span<const std::size_t> order, const Options& options) {
  TRIREME_CHECK_EQ(order.size(), parameters.size(), "parameters in the order");
  BucketPlan plan;
  plan.bucket_of.resize(parameters.size());
  plan.range_of.resize(parameters.size());
  std::size_t next = 0;
  while (next < order.size()) {
    std::vector<std::size_t> members;
    std::int64_t filled = 0;
    const auto fits = [&](std::size_t one) {
      return members.empty() || (filled < options.bucket_count &&
                                 parameters[one].unit == parameters[members.front()].unit);
    };
    while (next < order.size() && fits(order[next])) {
      filled += round_up(parameters[order[next]].count, kAlignment);
      members.push_back(order[next++]);
    }
    std::stable_sort(members.begin(), members.end(), [&](std::size_t a, std::size_t b) {
      return parameters[a].group < parameters[b].group;
    });
    Bucket bucket{.range = {plan.count, plan.count}, .entries = {}, .is_whole = options.is_whole};
    for (const std::size_t member : members) {
      const ElementRange range{bucket.range.end, bucket.range.end + parameters[member].count};
      bucket.entries.push_back({.parameter = member, .range = range});
      bucket.range.end += round_up(range.count(), kAlignment);
      plan.bucket_of[member] = plan.buckets.size();
      plan.range_of[member] = range;
    }
    plan.count = bucket.range.end;
    plan.buckets.push_back(std::move(bucket));
  }
  return plan;
}

std::int64_t BucketPlan::Bucket::bound(int rank, int ranks) const noexcept {
  const std::int64_t units = range.count() / kAlignment;
  const std::int64_t fair = range.begin + units * rank / ranks * kAlignment;
  if (!is_whole || fair == range.end) return fair;
  // Moves the boundary to the nearest beginning or end of a parameter.
  const auto after = std::find_if(entries.begin(), entries.end(),
                                  [&](const Entry& entry) { return entry.range.begin > fair; });
  const std::int64_t next = after == entries.end() ? range.end : after->range.begin;
  const std::int64_t last = after == entries.begin() ? range.begin : (after - 1)->range.begin;
  return next - fair < fair - last ? next : last;
}

std::vector<std::size_t> BucketPlan::Bucket::slice_counts(int ranks) const {
  std::vector<std::size_t> counts;
  for (int rank = 0; rank < ranks; ++rank) {
    counts.push_back(static_cast<std::size_t>(slice(rank, ranks).count()));
  }
  return counts;
}

std::vector<std::size_t> order_of(std::span<const std::size_t> arrival, std::size_t count) {
  std::vector<std::size_t> order;
  std::vector<bool> has_come(count);
  const auto add = [&](std::size_t parameter) {
    if (has_come.at(parameter)) return;
    has_come[parameter] = true;
    order.push_back(parameter);
  };
  for (const std::size_t parameter : arrival) add(parameter);
  for (std::size_t i = count; i-- > 0;) add(i);
  return order;
}

}  // namespace trireme::parallel::data
