#include "trireme/parallel/data/data_parallel.h"

#include <ATen/ops/empty.h>
#include <ATen/ops/zeros.h>
#include <c10/core/GradMode.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

#include "trireme/base/error.h"
#include "trireme/optim/clip.h"
#include "trireme/parallel/data/flat_memory.h"
#include "trireme/parallel/data/layout.h"
#include "trireme/parallel/data/segments.h"

namespace trireme::parallel::data {
namespace {

// Parameters with equal treatment get equal numbers.
std::vector<int> groups_of(const std::vector<Parameter>& parameters) {
  std::map<std::pair<double, double>, int> known;
  std::vector<int> groups;
  for (const Parameter& parameter : parameters) {
    const auto key = std::pair(parameter.rate_factor, parameter.weight_decay);
    groups.push_back(known.emplace(key, static_cast<int>(known.size())).first->second);
  }
  return groups;
}

}  // namespace

struct DataParallel::Layout {
  BucketPlan plan;
  at::Tensor values;
  FlatSpace reduced;
  std::vector<FlatSpace> states;
  // One for all of this rank's slots; in ordered sums one for each.
  std::vector<std::unique_ptr<GradientBuckets>> buckets;
};

DataParallel::DataParallel(Options options)
    : options_(std::move(options)),
      groups_(groups_of(options_.parameters)),
      hooks_(options_.parameters, [this](std::size_t parameter) { born(parameter); }) {
  const c10::NoGradGuard no_grad;
  // Everybody begins with rank 0's weights.
  for (const Parameter& parameter : options_.parameters) {
    comm::broadcast(options_.group, parameter.tensor.detach(), 0, {.label = "first weights"})
        .wait();
  }
}

DataParallel::~DataParallel() = default;

void DataParallel::lay_out(std::vector<std::size_t> order) {
  const c10::NoGradGuard no_grad;
  const comm::Group& group = options_.group;
  // Rank 0 decides: gradients that arrive in another order elsewhere only wait a little.
  std::vector<std::int64_t> agreed(order.begin(), order.end());
  group.broadcast({agreed.data(), agreed.size(), comm::DType::Int64}, 0, {.label = "order"}).wait();
  order.assign(agreed.begin(), agreed.end());

  const at::ScalarType type = options_.parameters.at(0).tensor.scalar_type();
  std::vector<BucketPlan::Parameter> shapes;
  for (std::size_t i = 0; i < groups_.size(); ++i) {
    shapes.push_back({.count = options_.parameters[i].tensor.numel(), .group = groups_[i]});
  }
  layout_ = std::make_unique<Layout>();
  const auto element = static_cast<std::int64_t>(c10::elementSize(type));
  layout_->plan =
      BucketPlan::make(shapes, order,
                       {.bucket_count = std::max<std::int64_t>(options_.bucket_size / element, 1),
                        .slices = group.size()});
  const BucketPlan& plan = layout_->plan;
  const bool is_common = options_.kind == SyncKind::Shared;
  layout_->values =
      is_common ? common_flat(group, plan.count, type) : private_flat(group, plan.count, type);
  const CompactPlan compact(plan, group.rank(), group.size());
  const auto space = [&]() -> FlatSpace {
    if (is_common) return {common_flat(group, plan.count, type), false, {}};
    if (!is_sliced()) return {at::zeros({plan.count}, type), false, {}};
    return {at::zeros({compact.count}, type), true, compact.shift};
  };
  for (std::size_t s = 0; s < options_.optimizer->state_names().size(); ++s) {
    layout_->states.push_back(space());
  }
  if (options_.is_ordered) {
    layout_->reduced = {at::zeros({plan.count}, type), false, {}};
  } else {
    layout_->reduced = is_sliced() ? space() : FlatSpace{buckets_of(0).memory(), false, {}};
  }
  move_values();
}

GradientBuckets& DataParallel::buckets_of(std::size_t slot) {
  const std::size_t index = options_.is_ordered ? slot : 0;
  const at::ScalarType type = options_.parameters[0].tensor.scalar_type();
  const auto allocate = [this, type](std::int64_t count) {
    return private_flat(options_.group, count, type);
  };
  while (layout_->buckets.size() <= index) {
    GradientBuckets::Options own{.full = [this](std::size_t bucket) { launch(bucket); },
                                 .is_in_parts = options_.is_in_parts};
    if (is_released()) {
      own.allocate = allocate;
    } else {
      own.memory = allocate(layout_->plan.count);
    }
    layout_->buckets.push_back(
        std::make_unique<GradientBuckets>(layout_->plan, options_.parameters, std::move(own)));
  }
  return *layout_->buckets[index];
}

// Parameters become views of the flat space.
void DataParallel::move_values() {
  const bool is_writer = options_.kind != SyncKind::Shared || options_.group.rank() == 0;
  for (std::size_t i = 0; i < options_.parameters.size(); ++i) {
    at::Tensor& parameter = options_.parameters[i].tensor;
    const ElementRange range = layout_->plan.range_of[i];
    const at::Tensor view =
        layout_->values.narrow(0, range.begin, range.count()).view(parameter.sizes());
    if (is_writer) view.copy_(parameter);
    parameter.set_data(view);
  }
  options_.group.barrier({.label = "weights in shared memory"}).wait();
}

void DataParallel::begin_step(const StepPlan& plan) {
  plan_ = plan;
  settle();
  broadcast_buffers();
}

void DataParallel::broadcast_buffers() {
  for (const at::Tensor& buffer : options_.buffers) {
    comm::broadcast(options_.group, buffer, 0, {.label = "buffers"}).wait();
  }
}

void DataParallel::begin_slot(std::size_t index) {
  slot_ = index;
  if (!layout_) return;
  buckets_of(slot_).begin_slot(
      {.is_first = index == 0 || options_.is_ordered, .is_last = index + 1 == plan_.slots.size()});
}

void DataParallel::born(std::size_t parameter) {
  if (!layout_) {
    arrival_.push_back(parameter);
    return;
  }
  buckets_of(slot_).take(parameter);
  poll();
}

// Reductions move on while backward computes.
void DataParallel::poll() {
  while (finished_ < works_.size() && works_[finished_].is_done()) {
    works_[finished_].wait();
    if (is_released()) buckets_of(0).release(finished_);
    ++finished_;
  }
}

void DataParallel::end_slot() {
  if (!layout_) {
    // The first step's gradients waited in their parameters, for the layout that they decide.
    lay_out(order_of(arrival_, options_.parameters.size()));
    begin_slot(slot_);
    for (std::size_t i = 0; i < options_.parameters.size(); ++i) buckets_of(slot_).take(i);
  }
  buckets_of(slot_).end_slot();
}

void DataParallel::launch(std::size_t bucket) {
  const std::string label = "bucket " + std::to_string(bucket);
  if (options_.is_ordered) {
    launch_ordered(bucket, label);
    return;
  }
  const at::Tensor gradient = buckets_of(0).bucket(bucket);
  if (is_sliced()) {
    works_.push_back(comm::reduce_scatter(options_.group,
                                          layout_->reduced.at(bucket, slice(bucket)), gradient,
                                          comm::ReduceOp::Sum, {.label = label}));
  } else {
    works_.push_back(
        comm::all_reduce(options_.group, gradient, comm::ReduceOp::Sum, {.label = label}));
  }
}

void DataParallel::launch_ordered(std::size_t bucket, const std::string& label) {
  std::vector<comm::SlotShare> mine;
  for (std::size_t i = 0; i < plan_.slots.size(); ++i) {
    mine.push_back({.slot = plan_.slots[i], .data = comm::span(buckets_of(i).bucket(bucket))});
  }
  const ElementRange whole = layout_->plan.buckets[bucket].range;
  ordered_.push_back(options_.group.ordered_sum(comm::span(layout_->reduced.at(bucket, whole)),
                                                mine, plan_.owners, comm::ReduceOp::Sum,
                                                {.label = label}));
}

ElementRange DataParallel::slice(std::size_t bucket) const {
  const BucketPlan::Bucket& whole = layout_->plan.buckets[bucket];
  return is_sliced() ? whole.slice(options_.group.rank(), options_.group.size()) : whole.range;
}

Gradients DataParallel::reduce(const Share& mine) {
  const c10::NoGradGuard no_grad;
  for (; finished_ < works_.size(); ++finished_) {
    works_[finished_].wait();
    if (is_released()) buckets_of(0).release(finished_);
  }
  works_.clear();
  finished_ = 0;
  comm::wait_all(ordered_);
  ordered_.clear();
  std::vector<double> figures = common_figures(mine);
  options_.group
      .all_reduce({figures.data(), figures.size(), comm::DType::Float64}, comm::ReduceOp::Sum,
                  {.label = "prepare"})
      .wait();
  Gradients all{.loss = figures[0], .is_stop_wanted = figures[1] > 0};
  // Without slices every rank has counted all of it.
  all.norm = std::sqrt(is_sliced() ? figures[2] : figures[2] / options_.group.size());
  all.is_finite = std::isfinite(figures[2]);
  is_used_.resize(options_.parameters.size());
  for (std::size_t i = 0; i < is_used_.size(); ++i) is_used_[i] = figures[3 + i] > 0;
  return all;
}

// Loss, wish to stop, sum of squares, and for each parameter whether it was used: what every rank
// adds to the rest.
std::vector<double> DataParallel::common_figures(const Share& mine) {
  double squares = 0;
  if (plan_.is_norm_wanted || plan_.is_checked) {
    for (std::size_t b = 0; b < layout_->plan.buckets.size(); ++b) {
      squares += optim::squared_norm(layout_->reduced.at(b, slice(b)));
    }
  }
  std::vector<double> figures{mine.loss, mine.is_stop_wanted ? 1.0 : 0.0, squares};
  for (std::size_t i = 0; i < options_.parameters.size(); ++i) {
    const bool is_used = std::any_of(layout_->buckets.begin(), layout_->buckets.end(),
                                     [&](const auto& slot) { return slot->is_used(i); });
    figures.push_back(is_used ? 1 : 0);
  }
  return figures;
}

std::vector<optim::Slice> DataParallel::slices(double rate) {
  std::vector<optim::Slice> all;
  for (std::size_t b = 0; b < layout_->plan.buckets.size(); ++b) {
    for (const Segment& segment :
         segments_of(layout_->plan.buckets[b], slice(b), groups_,
                     [&](std::size_t parameter) { return is_used_[parameter]; })) {
      const Parameter& like = options_.parameters[segment.parameter];
      optim::Slice slice{
          .value = layout_->values.narrow(0, segment.range.begin, segment.range.count()),
          .gradient = layout_->reduced.at(b, segment.range),
          .state = {},
          .learning_rate = rate * like.rate_factor,
          .weight_decay = like.weight_decay};
      for (const FlatSpace& state : layout_->states) {
        slice.state.push_back(state.at(b, segment.range));
      }
      all.push_back(std::move(slice));
    }
  }
  return all;
}

void DataParallel::update(const Update& how) {
  const c10::NoGradGuard no_grad;
  const std::vector<optim::Slice> mine = slices(how.rate);
  if (plan_.clip_value > 0) optim::clip_by_value(mine, plan_.clip_value, how.scale);
  if (!mine.empty()) options_.optimizer->update(mine, how.number, how.scale);
  publish();
}

// New values become everybody's; settle() waits for that.
void DataParallel::publish() {
  if (options_.kind == SyncKind::Shared) {
    published_ = options_.group.barrier({.label = "updated"});
  } else if (is_sliced()) {
    for (std::size_t b = 0; b < layout_->plan.buckets.size(); ++b) {
      const ElementRange whole = layout_->plan.buckets[b].range;
      const ElementRange own = slice(b);
      gathers_.push_back(comm::all_gather(
          options_.group, layout_->values.narrow(0, whole.begin, whole.count()),
          layout_->values.narrow(0, own.begin, own.count()), {.label = "new values"}));
    }
  }
}

void DataParallel::drop() {}

void DataParallel::settle() {
  if (published_) {
    published_->wait();
    published_.reset();
  }
  for (comm::TensorWork& gather : gathers_) gather.wait();
  gathers_.clear();
}

std::vector<checkpoint::Piece> DataParallel::pieces() {
  if (!layout_) lay_out(order_of({}, options_.parameters.size()));
  settle();
  std::vector<checkpoint::Piece> all;
  const std::vector<std::string> names = options_.optimizer->state_names();
  for (std::size_t b = 0; b < layout_->plan.buckets.size(); ++b) {
    const ElementRange own = slice(b);
    for (const BucketPlan::Entry& entry : layout_->plan.buckets[b].entries) {
      const Parameter& parameter = options_.parameters[entry.parameter];
      const ElementRange part{std::max(entry.range.begin, own.begin),
                              std::min(entry.range.end, own.end)};
      if (part.count() <= 0) continue;
      const std::vector<std::int64_t> sizes = parameter.tensor.sizes().vec();
      const std::int64_t begin = part.begin - entry.range.begin;
      all.push_back({.name = parameter.name,
                     .sizes = sizes,
                     .begin = begin,
                     .data = layout_->values.narrow(0, part.begin, part.count())});
      for (std::size_t s = 0; s < names.size(); ++s) {
        all.push_back({.name = state_name(names[s], parameter.name),
                       .sizes = sizes,
                       .begin = begin,
                       .data = layout_->states[s].at(b, part)});
      }
    }
  }
  return all;
}

void DataParallel::restored() {
  publish();
  settle();
}

std::vector<checkpoint::Piece> DataParallel::collect() {
  if (!layout_) lay_out(order_of({}, options_.parameters.size()));
  settle();
  std::vector<at::Tensor> states;
  const bool is_first = options_.group.rank() == 0;
  for (const FlatSpace& state : layout_->states) {
    if (!state.is_compact) {
      states.push_back(state.memory);
      continue;
    }
    // Slices of all ranks, bucket by bucket.
    at::Tensor whole = at::empty({is_first ? layout_->plan.count : 0}, state.memory.options());
    for (std::size_t b = 0; b < layout_->plan.buckets.size(); ++b) {
      const ElementRange range = layout_->plan.buckets[b].range;
      const comm::Span out =
          is_first ? comm::span(whole.narrow(0, range.begin, range.count())) : comm::Span{};
      options_.group
          .gather(out, comm::span(state.at(b, slice(b))), 0, {.label = "state to be saved"})
          .wait();
    }
    states.push_back(std::move(whole));
  }
  std::vector<checkpoint::Piece> all;
  const std::vector<std::string> names = options_.optimizer->state_names();
  for (std::size_t i = 0; is_first && i < options_.parameters.size(); ++i) {
    const Parameter& parameter = options_.parameters[i];
    const ElementRange range = layout_->plan.range_of[i];
    const std::vector<std::int64_t> sizes = parameter.tensor.sizes().vec();
    all.push_back({.name = parameter.name,
                   .sizes = sizes,
                   .data = layout_->values.narrow(0, range.begin, range.count())});
    for (std::size_t s = 0; s < names.size(); ++s) {
      all.push_back({.name = state_name(names[s], parameter.name),
                     .sizes = sizes,
                     .data = states[s].narrow(0, range.begin, range.count())});
    }
  }
  // A snapshot of shared memory is taken while nobody updates it.
  return all;
}

std::string DataParallel::first_not_finite() const {
  for (const Parameter& own : options_.parameters) {
    if (!std::isfinite(optim::squared_norm(own.tensor.detach()))) return own.name;
  }
  for (std::size_t i = 0; layout_ && i < options_.parameters.size(); ++i) {
    const std::size_t bucket = layout_->plan.bucket_of[i];
    const ElementRange range = layout_->plan.range_of[i];
    const ElementRange own = slice(bucket);
    const ElementRange part{std::max(range.begin, own.begin), std::min(range.end, own.end)};
    if (part.count() > 0 &&
        !std::isfinite(optim::squared_norm(layout_->reduced.at(bucket, part)))) {
      return options_.parameters[i].name;
    }
  }
  return {};
}

}  // namespace trireme::parallel::data
