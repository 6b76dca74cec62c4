// How DataParallel lays a model out in memory: the parts of it that run once.

#include <ATen/ops/zeros.h>
#include <c10/core/GradMode.h>

#include <algorithm>
#include <set>
#include <utility>

#include "trireme/parallel/data/data_parallel.h"
#include "trireme/parallel/data/flat_memory.h"

namespace trireme::parallel::data {

BucketPlan DataParallel::plan_of(std::vector<std::size_t> order) const {
  const comm::Group& group = options_.group;
  // Rank 0 decides: gradients that arrive in another order elsewhere only wait a little.
  std::vector<std::int64_t> agreed(order.begin(), order.end());
  group.broadcast({agreed.data(), agreed.size(), comm::DType::Int64}, 0, {.label = "order"}).wait();
  order.assign(agreed.begin(), agreed.end());

  std::vector<BucketPlan::Parameter> shapes;
  for (std::size_t i = 0; i < groups_.size(); ++i) {
    shapes.push_back({.count = options_.parameters[i].tensor.numel(), .group = groups_[i]});
  }
  // A tied parameter goes with the first block that reads it.
  for (std::size_t b = blocks_.size(); b-- > 0;) {
    for (const std::size_t i : blocks_[b]) shapes[i].unit = static_cast<int>(b);
  }
  const auto element = static_cast<std::int64_t>(options_.parameters.at(0).tensor.element_size());
  return BucketPlan::make(
      shapes, order,
      {.bucket_count = std::max<std::int64_t>(options_.bucket_size / element, 1),
       .slices = inside_.size()});
}

void DataParallel::lay_out(std::vector<std::size_t> order) {
  const c10::NoGradGuard no_grad;
  const comm::Group& group = inside_;
  const at::ScalarType type = options_.parameters.at(0).tensor.scalar_type();
  layout_ = std::make_unique<Layout>();
  layout_->plan = plan_of(std::move(order));
  const BucketPlan& plan = layout_->plan;
  for (const BucketPlan::Bucket& bucket : plan.buckets) {
    layout_->own.push_back(is_sliced() ? bucket.slice(group.rank(), group.size()) : bucket.range);
  }
  const CompactPlan compact(plan, group.rank(), group.size());
  const auto space = [&]() -> FlatSpace {
    if (is_one_copy()) return {common_flat(group, plan.count, type), false, {}};
    if (!is_sliced()) return {at::zeros({plan.count}, type), false, {}};
    return {at::zeros({compact.count}, type), true, compact.shift};
  };
  if (is_one_copy() || options_.kind == SyncKind::Zero3) {
    layout_->values = space();
  } else {
    layout_->values = {private_flat(group, plan.count, type), false, {}};
  }
  for (std::size_t s = 0; s < options_.optimizer->state_names().size(); ++s) {
    layout_->states.push_back(space());
  }
  if (options_.is_ordered) {
    layout_->reduced = {at::zeros({plan.count}, type), false, {}};
  } else {
    layout_->reduced = is_sliced() ? space() : FlatSpace{buckets_of(0).memory(), false, {}};
  }
  if (layout_->values.is_compact) {
    make_gathering();
  } else {
    move_values();
  }
}

// Parameters become views of the flat space.
void DataParallel::move_values() {
  const bool is_writer = !is_one_copy() || inside_.rank() == 0;
  for (std::size_t i = 0; i < options_.parameters.size(); ++i) {
    at::Tensor& parameter = options_.parameters[i].tensor;
    const ElementRange range = layout_->plan.range_of[i];
    const at::Tensor view =
        layout_->values.at(layout_->plan.bucket_of[i], range).view(parameter.sizes());
    if (is_writer) view.copy_(parameter);
    parameter.set_data(view);
  }
  options_.group.barrier({.label = "weights in shared memory"}).wait();
}

// This rank keeps its slices; parameters become views of what is gathered.
void DataParallel::make_gathering() {
  const BucketPlan& plan = layout_->plan;
  std::vector<at::Tensor> slices;
  for (std::size_t b = 0; b < plan.buckets.size(); ++b) {
    slices.push_back(layout_->values.at(b, layout_->own[b]));
  }
  std::vector<std::vector<std::size_t>> needs;
  for (const std::vector<std::size_t>& block : blocks_) {
    std::set<std::size_t> read;
    for (const std::size_t i : block) read.insert(plan.bucket_of[i]);
    needs.emplace_back(read.begin(), read.end());
  }
  gathering_ = std::make_shared<zero::Gathering>(zero::Gathering::Options{
      .group = inside_.duplicate(), .slices = std::move(slices), .needs = std::move(needs)});
  for (std::size_t i = 0; i < options_.parameters.size(); ++i) {
    at::Tensor& parameter = options_.parameters[i].tensor;
    const std::size_t b = plan.bucket_of[i];
    const ElementRange range = plan.range_of[i];
    const ElementRange part = common(range, layout_->own[b]);
    if (part.count() > 0) {
      const at::Tensor flat = parameter.detach().flatten();
      layout_->values.at(b, part).copy_(flat.narrow(0, part.begin - range.begin, part.count()));
    }
    parameter.set_data(gathering_->whole(b)
                           .narrow(0, range.begin - plan.buckets[b].range.begin, range.count())
                           .view(parameter.sizes()));
  }
  if (options_.model) options_.model->set_gate(gathering_);
}

}  // namespace trireme::parallel::data
