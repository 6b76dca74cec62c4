#include "trireme/parallel/data/reduce/gradient_reduction.h"

#include <utility>

#include "trireme/parallel/data/coded/coded_host_sum.h"
#include "trireme/parallel/data/coded/coded_sum.h"
#include "trireme/parallel/data/reduce/plain_sums.h"

namespace trireme::parallel::data {

SlicePlan::SlicePlan(const StorageLayout& layout, const std::vector<Parameter>& of) {
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

void GradientReduction::begin_step(const StepPlan& plan) {
  if (coded_) coded_->begin(plan.step);
  if (reducer_) reducer_->begin_step(plan);
}

Traffic GradientReduction::traffic(std::int64_t step) const {
  if (!coded_) return {};
  return step >= coding_.begin ? coded_->traffic() : plain_;
}

void GradientReduction::lay_out(const StorageLayout& layout, const Placement& where,
                                const Blueprint& blueprint,
                                const std::vector<Parameter>& parameters) {
  if (!coding_.codec) return;
  CodedSum::Options how{.codec = coding_.codec,
                        .has_error_feedback = coding_.has_error_feedback,
                        .seed = coding_.seed,
                        .is_undoable = composition_.can_undo_residuals()};
  const bool is_per_host = composition_.is_per_host(), is_sharded = composition_.is_sharded();
  const bool is_scattered = is_sharded && !where.has_other_hosts();
  if (is_per_host || (composition_.has_recoverable_residuals() && !is_scattered)) {
    how.shared = {.arena = where.host.arena(),
                  .key = blueprint.name(Blueprint::kResiduals),
                  .place = where.host.arena_member()};
  }
  if (is_per_host) {
    coded_ = std::make_unique<CodedHostSum>(std::move(how), layout.plan, parameters);
  } else if (!is_sharded || is_scattered) {
    how.group = is_scattered ? where.host : where.all;
    if (is_scattered) how.topology = CodedSum::Topology::ReduceScatter;
    coded_ = std::make_unique<CodedSum>(std::move(how), layout.plan, parameters);
  } else {
    how.group = where.across;  // the replicas of this rank's shards
    how.beside = {.group = where.host.duplicate(), .counts = {}};
    for (const BucketPlan::Bucket& bucket : layout.plan.buckets) {
      how.beside->counts.push_back(bucket.slice_counts(where.host.size()));
    }
    const SlicePlan shards(layout, parameters);
    coded_ = std::make_unique<CodedSum>(std::move(how), shards.plan, shards.parameters);
  }
}

void GradientReduction::connect(const StorageLayout& layout, MicroBatchGradients& gradients,
                                const Placement& where) {
  sums_.clear();
  if (composition_.is_ordered) {
    reducer_ = std::make_unique<OrderedReducer>(
        OrderedReducer::Options{.gradients = &gradients, .layout = &layout, .group = where.all});
    return;
  }
  plain_ = plain_traffic(layout, where);
  BucketReducer::Options how{
      .gradients = &gradients, .layout = &layout, .codec_begin = coding_.begin};
  connect_levels(how, layout, where);
  reducer_ = std::make_unique<BucketReducer>(how);
}

void GradientReduction::connect_levels(BucketReducer::Options& how, const StorageLayout& layout,
                                       const Placement& where) {
  const auto own = [this](std::unique_ptr<BucketSum> sum) {
    return sums_.emplace_back(std::move(sum)).get();
  };
  if (!composition_.is_sharded()) {
    how.plain.first = own(std::make_unique<AllReduceSum>(where.all));
    how.coded.first = coded_.get();
    return;
  }
  BucketSum* const within = own(std::make_unique<ReduceScatterSum>(where.host, layout.plan));
  const bool is_per_host = composition_.is_per_host();
  how.plain.first = within;
  if (!where.has_other_hosts()) {
    if (coded_) how.coded.first = is_per_host ? within : coded_.get();
    return;
  }
  if (coded_) {
    how.coded = {.first = within, .second = coded_.get(), .has_whole_buckets = is_per_host};
  }
  if (where.is_uneven) {
    how.plain.first = own(std::make_unique<WholeSum>(where.all, layout));
  } else {
    how.plain.second = own(std::make_unique<AllReduceSum>(where.across));
  }
}

// Of a step before the codec begins: the elements that it would encode, as they are.
Traffic GradientReduction::plain_traffic(const StorageLayout& layout,
                                         const Placement& where) const {
  const bool has_other_hosts = composition_.is_sharded() && where.has_other_hosts();
  std::int64_t count = 0;
  for (const ElementRange& own : layout.own) count += own.count();
  if (composition_.is_sharded() && !has_other_hosts) count = layout.plan.count - count;
  if (composition_.is_per_host()) count = has_other_hosts ? layout.plan.count : 0;
  const auto size = count * static_cast<std::int64_t>(sizeof(float));
  return {.plain = size, .sent = size};
}

}  // namespace trireme::parallel::data
