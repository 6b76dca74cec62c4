// How DataParallel lays a model out in memory: the parts of it that run once.

#include <ATen/ops/zeros.h>
#include <c10/core/GradMode.h>

#include <algorithm>
#include <set>
#include <utility>

#include "trireme/base/entropy.h"
#include "trireme/parallel/data/coded_scatter.h"
#include "trireme/parallel/data/data_parallel.h"
#include "trireme/parallel/data/exchange.h"
#include "trireme/parallel/data/flat_memory.h"
#include "trireme/parallel/data/host_exchange.h"
#include "trireme/parallel/data/slice_plan.h"

namespace trireme::parallel::data {
namespace {

constexpr std::size_t kValues = 0, kReduced = 1, kCopies = 2, kLedger = 3, kResiduals = 4,
                      kStates = 5;  // among the names

}  // namespace

// With names that nobody else has.
DataParallel::Blueprint DataParallel::draw(const std::vector<std::size_t>& order) const {
  Blueprint blueprint{
      .order = std::vector<std::int64_t>(order.begin(), order.end()),
      .names = std::vector<std::int64_t>(kStates + options_.optimizer->state_names().size())};
  secure_random({reinterpret_cast<std::byte*>(blueprint.names.data()),
                 blueprint.names.size() * sizeof(std::int64_t)});
  for (std::int64_t& name : blueprint.names) name |= 1;  // 0 is no name
  return blueprint;
}

// Rank 0 decides: gradients that arrive in another order elsewhere only wait a little.
void DataParallel::lay_out(std::vector<std::size_t> order) {
  Blueprint blueprint = draw(order);
  const auto agree = [&](std::vector<std::int64_t>& numbers) {
    options_.group
        .broadcast({numbers.data(), numbers.size(), comm::DType::Int64}, 0, {.label = "layout"})
        .wait();
  };
  agree(blueprint.order);
  // Every host has memory of its own, and names for it.
  inside_
      .broadcast({blueprint.names.data(), blueprint.names.size(), comm::DType::Int64}, 0,
                 {.label = "names of shared memory"})
      .wait();
  lay_out(blueprint, /*is_attached=*/false);
}

BucketPlan DataParallel::plan_of(const std::vector<std::int64_t>& order) const {
  std::vector<BucketPlan::Parameter> shapes;
  for (std::size_t i = 0; i < groups_.size(); ++i) {
    shapes.push_back({.count = options_.parameters[i].tensor.numel(), .group = groups_[i]});
  }
  // A tied parameter goes with the first block that reads it.
  const bool is_by_block = options_.kind == SyncKind::Zero3 && !is_one_copy();
  for (std::size_t b = blocks_.size(); is_by_block && b-- > 0;) {
    for (const std::size_t i : blocks_[b]) shapes[i].unit = static_cast<int>(b);
  }
  const auto element = static_cast<std::int64_t>(options_.parameters.at(0).tensor.element_size());
  return BucketPlan::make(
      shapes, std::vector<std::size_t>(order.begin(), order.end()),
      {.bucket_count = std::max<std::int64_t>(options_.bucket_size / element, 1),
       .is_whole = has_whole_parameters()});
}

// What an update may leave torn, and its heir puts back first.
Ledger::Shape DataParallel::ledger_shape() const {
  const at::Tensor& first = options_.parameters[0].tensor;
  Ledger::Shape shape{.figures = kFigures + options_.parameters.size(),
                      .states = is_one_copy() ? layout_->states.size() : 0,
                      .element_size = static_cast<std::size_t>(first.element_size())};
  for (const Parameter& parameter : options_.parameters) {
    if (!has_whole_parameters() || !is_one_copy()) break;
    shape.run_max = std::max(shape.run_max, parameter.tensor.numel());
  }
  return shape;
}

// Until the values are in their new place nothing of this rank changes: whoever is cut off on the
// way begins anew. `is_attached`: others have laid out long ago, and their values count.
void DataParallel::lay_out(const Blueprint& blueprint, bool is_attached) {
  const c10::NoGradGuard no_grad;
  auto layout = std::make_unique<Layout>();
  layout->plan = plan_of(blueprint.order);
  make_spaces(*layout, blueprint.names);
  if (is_one_copy() && !is_attached) {
    for (std::size_t i = 0; inside_.rank() == 0 && i < options_.parameters.size(); ++i) {
      const ElementRange range = layout->plan.range_of[i];
      layout->values.memory.narrow(0, range.begin, range.count())
          .copy_(options_.parameters[i].tensor.detach().flatten());
    }
    if (inside_.rank() == 0 && layout->copies.memory.defined()) {
      layout->copies.memory.copy_(layout->values.memory);
    }
    inside_.barrier({.label = "weights in shared memory"}).wait();
  }
  blueprint_ = blueprint;
  layout_ = std::move(layout);
  cut_slices();
  // Summed up where they came together.
  if (!layout_->reduced.memory.defined()) layout_->reduced = {buckets_of(0).memory(), false, {}};
  if (options_.codec) make_exchange();
  if (is_elastic()) has_state_ = true;
  if (is_elastic() && (is_one_copy() || !options_.is_spread)) {
    ledger_.emplace(inside_.arena(), static_cast<std::uint64_t>(blueprint.names[kLedger]),
                    ledger_shape());
    page_ = ledger_->page(inside_.arena_member());
    page_->begin(status_.step);
  }
  make_publishing();
  if (layout_->values.is_compact) {
    make_gathering();
  } else {
    move_values(is_attached);
  }
  // Last: who is cut off here has all that regroup() goes on with, which comes to this, too.
  if (exchange_ && !is_surviving_) meet_again();
}

// Of hosts all have to meet in it.
void DataParallel::make_exchange() {
  exchange_ = make_sum();
  exchange_->begin(plan_.step);
  is_exchange_met_ = !is_in_hosts();
}

std::unique_ptr<CodedSum> DataParallel::make_sum() const {
  const auto key = static_cast<std::uint64_t>(blueprint_.names[kResiduals]);
  if (is_in_hosts()) {
    return std::make_unique<HostExchange>(
        HostExchange::Options{.codec = options_.codec,
                              .has_error_feedback = options_.has_error_feedback,
                              .seed = options_.seed,
                              .arena = inside_.arena(),
                              .key = key},
        layout_->plan, options_.parameters);
  }
  if (is_sliced() && !is_crossing()) {
    return std::make_unique<CodedScatter>(
        CodedScatter::Options{.group = inside_,
                              .codec = options_.codec,
                              .has_error_feedback = options_.has_error_feedback,
                              .seed = options_.seed},
        layout_->plan, options_.parameters);
  }
  Exchange::Options how{.group = is_sliced() ? options_.across : options_.group,
                        .codec = options_.codec,
                        .has_error_feedback = options_.has_error_feedback,
                        .seed = options_.seed,
                        .is_elastic = is_elastic()};
  if (is_elastic() && !options_.is_spread) {
    how.shared = {.arena = inside_.arena(), .key = key, .place = inside_.arena_member()};
  }
  if (!is_sliced()) {
    return std::make_unique<Exchange>(std::move(how), layout_->plan, options_.parameters);
  }
  how.beside = {.group = inside_.duplicate(), .counts = {}};
  for (const BucketPlan::Bucket& bucket : layout_->plan.buckets) {
    how.beside->counts.push_back(bucket.slice_counts(inside_.size()));
  }
  const SlicePlan slices(*layout_, options_.parameters);
  return std::make_unique<Exchange>(std::move(how), slices.plan, slices.parameters, slices.parts);
}

void DataParallel::cut_slices() {
  cut_ = {.places = places_,
          .rank = inside_.rank(),
          .size = inside_.size(),
          .replicas = is_in_hosts() ? static_cast<int>(firsts_.size()) : options_.across.size()};
  layout_->own.clear();
  for (std::size_t b = 0; b < layout_->plan.buckets.size(); ++b) {
    layout_->own.push_back(own_of(b, cut_.rank));
  }
}

ElementRange DataParallel::own_of(std::size_t bucket, int rank) const {
  const BucketPlan::Bucket& of = layout_->plan.buckets[bucket];
  return is_sliced() ? of.slice(rank, cut_.size) : of.range;
}

void DataParallel::make_spaces(Layout& layout, const std::vector<std::int64_t>& names) {
  const comm::Group& group = inside_;
  const at::ScalarType type = options_.parameters.at(0).tensor.scalar_type();
  const BucketPlan& plan = layout.plan;
  const CompactPlan compact(plan, group.rank(), group.size());
  const auto space = [&](std::size_t name) -> FlatSpace {
    if (is_one_copy()) {
      return {common_flat(group, static_cast<std::uint64_t>(names[name]), plan.count, type,
                          is_elastic() ? 0 : group.size()),
              false,
              {}};
    }
    if (!is_sliced()) return {at::zeros({plan.count}, type), false, {}};
    return {at::zeros({compact.count}, type), true, compact.shift};
  };
  if (is_one_copy() || options_.kind == SyncKind::Zero3) {
    layout.values = space(kValues);
  } else {
    layout.values = {private_flat(group, plan.count, type), false, {}};
  }
  if (is_one_copy() && options_.narrow_type) {
    layout.copies = {common_flat(group, static_cast<std::uint64_t>(names[kCopies]), plan.count,
                                 *options_.narrow_type, is_elastic() ? 0 : group.size()),
                     false,
                     {}};
  }
  for (std::size_t s = 0; s < options_.optimizer->state_names().size(); ++s) {
    layout.states.push_back(space(kStates + s));
  }
  if (options_.is_ordered) {
    layout.reduced = {at::zeros({plan.count}, type), false, {}};
  } else if (is_sliced()) {
    layout.reduced = space(kReduced);
  } else if (is_sum_apart()) {
    layout.reduced = {private_flat(group, plan.count, type), false, {}};
  }
}

// Parameters become views of the flat space.
void DataParallel::move_values(bool is_attached) {
  for (std::size_t i = 0; i < options_.parameters.size(); ++i) {
    at::Tensor& parameter = options_.parameters[i].tensor;
    const ElementRange range = layout_->plan.range_of[i];
    const at::Tensor view =
        layout_->values.at(layout_->plan.bucket_of[i], range).view(parameter.sizes());
    if (!is_one_copy() && !is_attached) view.copy_(parameter);
    parameter.set_data(view);
  }
}

// By block: the buckets that it reads.
std::vector<std::vector<std::size_t>> DataParallel::needs_of_blocks() const {
  std::vector<std::vector<std::size_t>> needs;
  for (const std::vector<std::size_t>& block : blocks_) {
    std::set<std::size_t> read;
    for (const std::size_t i : block) read.insert(layout_->plan.bucket_of[i]);
    needs.emplace_back(read.begin(), read.end());
  }
  return needs;
}

// Where ranks come and go, a step begins with all values there: nobody is then in one step while
// another's update of the last can still be lost.
void DataParallel::make_publishing() {
  const bool is_gate = is_sliced() && !is_elastic() && !layout_->values.is_compact;
  publishing_ = std::make_shared<Publishing>(
      layout_->plan.buckets.size(),
      is_gate ? needs_of_blocks() : std::vector<std::vector<std::size_t>>{});
  if (publishing_->is_gate()) options_.model->set_gate(publishing_);
}

// This rank keeps its slices; parameters become views of what is gathered.
void DataParallel::make_gathering() {
  const BucketPlan& plan = layout_->plan;
  std::vector<at::Tensor> slices;
  std::vector<std::vector<std::size_t>> counts;
  for (std::size_t b = 0; b < plan.buckets.size(); ++b) {
    slices.push_back(layout_->values.at(b, layout_->own[b]));
    counts.push_back(plan.buckets[b].slice_counts(inside_.size()));
  }
  gathering_ =
      std::make_shared<zero::Gathering>(zero::Gathering::Options{.group = inside_.duplicate(),
                                                                 .slices = std::move(slices),
                                                                 .counts = std::move(counts),
                                                                 .needs = needs_of_blocks()});
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
