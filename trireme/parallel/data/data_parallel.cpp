#include "trireme/parallel/data/data_parallel.h"

#include <ATen/ops/empty.h>
#include <c10/core/GradMode.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <utility>

#include "trireme/base/machine/heap.h"
#include "trireme/optim/clip.h"
#include "trireme/parallel/data/flat_memory.h"
#include "trireme/parallel/data/pieces.h"
#include "trireme/parallel/data/segments.h"
#include "trireme/parallel/sameness.h"

namespace trireme::parallel::data {
namespace {

// Parameters with equal treatment get equal numbers.
std::vector<int> groups_of(const std::vector<Parameter>& parameters) {
  std::map<std::tuple<double, double, std::int64_t, int>, int> known;
  std::vector<int> groups;
  for (const Parameter& parameter : parameters) {
    const auto key = std::tuple(parameter.rate_factor, parameter.weight_decay,
                                parameter.first_update, parameter.rule);
    groups.push_back(known.emplace(key, static_cast<int>(known.size())).first->second);
  }
  return groups;
}

// By block of the model: the parameters that it reads. Empty where some parameter is in no block.
std::vector<std::vector<std::size_t>> blocks_of(const model::Model* model,
                                                const std::vector<Parameter>& parameters) {
  std::vector<std::vector<std::size_t>> blocks;
  if (model == nullptr) return blocks;
  std::vector<bool> is_found(parameters.size());
  for (const auto& block : model->blocks()) {
    std::vector<std::size_t>& read = blocks.emplace_back();
    for (const at::Tensor& tensor : block->parameters()) {
      for (std::size_t i = 0; i < parameters.size(); ++i) {
        if (!parameters[i].tensor.is_same(tensor)) continue;
        read.push_back(i);
        is_found[i] = true;
      }
    }
  }
  const bool is_whole = std::find(is_found.begin(), is_found.end(), false) == is_found.end();
  return is_whole ? blocks : std::vector<std::vector<std::size_t>>{};
}

}  // namespace

DataParallel::DataParallel(Options options)
    : options_(std::move(options)),
      inside_(options_.inside.value_or(options_.group)),
      groups_(groups_of(options_.parameters)),
      hooks_(options_.parameters, [this](std::size_t parameter) { on_gradient(parameter); }) {
  const c10::NoGradGuard no_grad;
  expect_one_type(options_.parameters);
  blocks_ = blocks_of(options_.model.get(), options_.parameters);
  for (std::size_t i = 0; i < options_.parameters.size(); ++i) {
    index_.emplace(options_.parameters[i].tensor.unsafeGetTensorImpl(), i);
  }
  if (options_.can_leave_out) race_ = std::make_unique<Race>(options_.group);
  // Where ranks come and go, regroup() brings them together, as often as it takes.
  if (is_elastic()) return;
  expect_same_parameters(options_.group, options_.parameters);
  // Everybody begins with rank 0's weights.
  for (const Parameter& parameter : options_.parameters) {
    comm::broadcast(options_.group, parameter.tensor.detach(), 0, {.label = "first weights"})
        .wait();
  }
  // Where values are not to be whole, they are not for a first step either.
  if (options_.kind == SyncKind::Zero3 && !is_one_copy()) {
    lay_out(order_of({}, options_.parameters.size()));
    return_free_memory();
  }
}

DataParallel::~DataParallel() {
  const bool has_gate = gathering_ || (publishing_ && publishing_->is_gate());
  if (has_gate && options_.model) options_.model->set_gate(nullptr);
}

bool DataParallel::is_one_copy() const noexcept {
  return is_sliced() && inside_.arena() != nullptr;
}

GradientBuckets& DataParallel::buckets_of(std::size_t micro_batch) {
  const std::size_t index = options_.is_ordered ? micro_batch : 0;
  const at::ScalarType type = options_.parameters[0].tensor.scalar_type();
  const auto allocate = [this, type](std::int64_t count) {
    return private_flat(inside_, count, type);
  };
  if (buckets_.size() <= index) buckets_.resize(index + 1);
  if (!buckets_[index]) {
    GradientBuckets::Options own{.full = [this](std::size_t bucket) { launch(bucket); },
                                 // What was sent cannot be taken back.
                                 .is_in_parts = options_.is_in_parts || options_.can_leave_out};
    if (is_released()) {
      own.allocate = allocate;
    } else {
      own.memory = allocate(layout_->plan.count);
    }
    buckets_[index] =
        std::make_unique<GradientBuckets>(layout_->plan, options_.parameters, std::move(own));
  }
  return *buckets_[index];
}

// Whether blocks come and go: that takes blocks, and as many slots on every rank.
bool DataParallel::is_streamed() const {
  if (!gathering_ || blocks_.empty()) return false;
  std::vector<int> micro_batches(static_cast<std::size_t>(options_.group.size()));
  for (const int owner : plan_.owners) ++micro_batches[static_cast<std::size_t>(owner)];
  return std::adjacent_find(micro_batches.begin(), micro_batches.end(), std::not_equal_to<>()) ==
         micro_batches.end();
}

void DataParallel::begin_step(const StepPlan& plan) {
  if (!publishing_ || !publishing_->is_gate()) finish_publishing();
  // Nothing is thrown from here until what is kept lies as the new plan says.
  const int count_before = std::exchange(plan_, plan).micro_batch_count;
  if (is_elastic()) {
    reopen(count_before);
  } else {
    filled_.assign(filled_.size(), kEmpty);
  }
  if (exchange_) exchange_->begin(plan_.step);
  if (gathering_ && !is_streamed()) gathering_->gather_all();
  begin_buffers();
  is_left_out_ = false;
  // Until all is laid out, everybody is waited for.
  if (!layout_) plan_.left_out_max = 0;
  if (race_ && plan_.left_out_max > 0) race_->begin(plan_.left_out_max);
}

void DataParallel::throw_if_pointless() const {
  if (is_elastic()) throw_if_lost();
  if (race_ && race_->is_lost()) throw Late();
}

// Zeros, and nothing used; statistics as they were.
void DataParallel::leave_out() {
  is_left_out_ = true;
  take_buffers_back(first_buffers_);
  for (Parameter& parameter : options_.parameters) parameter.tensor.mutable_grad().reset();
  GradientBuckets& buckets = buckets_of(0);
  buckets.begin_micro_batch({.is_first = true, .is_last = true});
  buckets.end_micro_batch();
  is_mixed_ = false;
}

// Where slots stay, so does what their passes made of them: those of rank 0 as they were when the
// step began are for whoever had not begun it.
void DataParallel::begin_buffers() {
  const bool is_kept = plan_.is_repeated && plan_.kept_micro_batches != 0;
  if (!is_kept) first_buffers_.clear();
  const bool is_begun = !first_buffers_.empty();
  for (std::size_t i = 0; i < options_.buffers.size(); ++i) {
    const at::Tensor& buffer = options_.buffers[i];
    const at::Tensor values = is_begun ? first_buffers_[i].clone() : buffer;
    comm::broadcast(options_.group, values, 0, {.label = "buffers"}).wait();
  }
  const bool is_remembered = is_elastic() || options_.can_leave_out;
  if (is_remembered && !is_begun) first_buffers_ = copied_buffers();
}

void DataParallel::broadcast_buffers() {
  for (const at::Tensor& buffer : options_.buffers) {
    comm::broadcast(options_.group, buffer, 0, {.label = "buffers"}).wait();
  }
}

void DataParallel::begin_micro_batch(std::size_t index) {
  micro_batch_ = index;
  if (is_streamed()) gathering_->begin_micro_batch();
  if (!layout_) return;
  buckets_of(micro_batch_)
      .begin_micro_batch({.is_first = has_none() || options_.is_ordered,
                          .is_last = index == last_to_run(),
                          .is_alone = options_.is_ordered});
  filled_.resize(std::max(filled_.size(), micro_batch_ + 1), kEmpty);
}

at::Tensor DataParallel::copy_of(const at::Tensor& parameter) const {
  const auto found = index_.find(parameter.unsafeGetTensorImpl());
  if (found == index_.end()) return {};
  const std::size_t i = found->second;
  return layout_->copies.at(layout_->plan.bucket_of[i], layout_->plan.range_of[i])
      .view(parameter.sizes());
}

double DataParallel::waited() const {
  return gathering_ ? gathering_->waited() : publishing_ ? publishing_->waited() : 0;
}

at::Tensor DataParallel::lend(const at::Tensor& parameter) {
  const auto found = index_.find(parameter.unsafeGetTensorImpl());
  if (!layout_ || found == index_.end()) return {};
  return buckets_of(micro_batch_).lend(found->second);
}

bool DataParallel::add_rows(const at::Tensor& parameter, const at::Tensor& rows,
                            const at::Tensor& values) {
  const auto found = index_.find(parameter.unsafeGetTensorImpl());
  if (!layout_ || found == index_.end()) return false;
  return buckets_of(micro_batch_).add_rows(found->second, rows, values);
}

void DataParallel::on_gradient(std::size_t parameter) {
  if (!layout_) {
    arrival_.push_back(parameter);
    return;
  }
  if (race_ && race_->is_lost()) throw Late();
  is_mixed_ = true;
  buckets_of(micro_batch_).take(parameter);
  if (is_elastic() && options_.group.error()) {
    // What is computed for a step that cannot end is not worth its time, unless it stays.
    if (!keeps_micro_batches()) throw_if_lost();
    return;
  }
  poll();
}

// Reductions move on while backward computes.
void DataParallel::poll() {
  while (finished_ < launched() && is_done(finished_)) finish_next();
  if (!is_crossing_coded()) return;
  while (crossed_ < exchange_->launched() && exchange_->is_done(crossed_)) {
    exchange_->finish(crossed_++);
  }
}

// In the order of the plan on every rank, so that slices cross in the same order, too.
void DataParallel::finish_next() {
  if (is_coded()) {
    exchange_->finish(finished_);
  } else {
    works_[finished_].wait();
  }
  if (is_uneven_ && !is_crossing_coded()) {
    const ElementRange own = layout_->own[finished_];
    layout_->reduced.at(finished_, own).copy_(sums_.narrow(0, own.begin, own.count()));
  }
  if (is_released()) buckets_of(0).release(finished_);
  if (options_.across.size() > 1 || is_crossing_coded()) cross(finished_);
  ++finished_;
}

void DataParallel::end_micro_batch() {
  if (!layout_) {
    // The first step's gradients waited in their parameters, for the layout that they decide.
    lay_out(order_of(arrival_, options_.parameters.size()));
    begin_micro_batch(micro_batch_);
    for (std::size_t i = 0; i < options_.parameters.size(); ++i) buckets_of(micro_batch_).take(i);
    // The first memory of values and gradients is not asked for again.
    return_free_memory();
  }
  if (is_streamed()) gathering_->end_micro_batch();
  buckets_of(micro_batch_).end_micro_batch();
  filled_[micro_batch_] = plan_.micro_batches[micro_batch_];
  is_mixed_ = false;
  if (is_elastic()) micro_batch_buffers_ = copied_buffers();
}

void DataParallel::launch(std::size_t bucket) {
  // A slot that runs when a rank dies is finished where its gradients stay. reduce() tells.
  if (is_elastic() && keeps_micro_batches() && options_.group.error()) return;
  const std::string label = "bucket " + std::to_string(bucket);
  if (options_.is_ordered) {
    if (bucket == ordered_.size()) launch_ordered(bucket, label);
    return;
  }
  const at::Tensor gradient = buckets_of(0).bucket(bucket);
  const at::Tensor out = layout_->reduced.at(bucket, layout_->own[bucket]);
  if (is_coded()) {
    exchange_->launch(bucket, gradient, out);
  } else if (is_uneven_ && !is_crossing_coded()) {
    // No two hosts cut alike: everybody gets everything, and keeps its slice of it.
    const ElementRange whole = layout_->plan.buckets[bucket].range;
    if (!sums_.defined()) sums_ = at::empty({layout_->plan.count}, gradient.options());
    const at::Tensor sum = sums_.narrow(0, whole.begin, whole.count());
    sum.copy_(gradient);
    works_.push_back(comm::all_reduce(options_.group, sum, comm::ReduceOp::Sum, {.label = label}));
  } else if (is_sliced()) {
    works_.push_back(comm::reduce_scatter(
        inside_, out, gradient, layout_->plan.buckets[bucket].slice_counts(inside_.size()),
        comm::ReduceOp::Sum, {.label = label}));
  } else {
    // Where the step may be run again, the gradients stay beside their sums.
    if (is_sum_apart()) out.copy_(gradient);
    works_.push_back(comm::all_reduce(options_.group, out, comm::ReduceOp::Sum, {.label = label}));
  }
}

void DataParallel::launch_ordered(std::size_t bucket, const std::string& label) {
  std::vector<comm::LogicalShare> mine;
  for (std::size_t i = 0; i < plan_.micro_batches.size(); ++i) {
    mine.push_back(
        {.logical_rank = plan_.micro_batches[i], .data = comm::span(buckets_of(i).bucket(bucket))});
  }
  const ElementRange whole = layout_->plan.buckets[bucket].range;
  ordered_.push_back(options_.group.ordered_sum(comm::span(layout_->reduced.at(bucket, whole)),
                                                mine, plan_.owners, comm::ReduceOp::Sum,
                                                {.label = label}));
}

double DataParallel::total(double mine) {
  options_.group
      .all_reduce({&mine, 1, comm::DType::Float64}, comm::ReduceOp::Sum, {.label = "total"})
      .wait();
  return mine;
}

Gradients DataParallel::reduce(const Share& mine) {
  const c10::NoGradGuard no_grad;
  if (race_) race_->finish();
  // A rank without slots in the first step has laid nothing out.
  if (!layout_) lay_out(order_of(arrival_, options_.parameters.size()));
  // Where the gradients of the last slot were there already, nobody has begun.
  const std::size_t buckets = layout_->plan.buckets.size();
  while (!options_.is_ordered && launched() < buckets) {
    if (is_elastic()) throw_if_lost();
    launch(launched());
  }
  while (options_.is_ordered && ordered_.size() < buckets) {
    launch_ordered(ordered_.size(), "bucket " + std::to_string(ordered_.size()));
  }
  while (finished_ < launched()) finish_next();
  while (is_crossing_coded() && crossed_ < exchange_->launched()) exchange_->finish(crossed_++);
  crossed_ = 0;
  for (comm::TensorWork& slice : crossing_) slice.wait();
  crossing_.clear();
  works_.clear();
  finished_ = 0;
  comm::wait_all(ordered_);
  ordered_.clear();
  std::vector<double> figures = common_figures(mine);
  options_.group
      .all_reduce({figures.data(), figures.size(), comm::DType::Float64}, comm::ReduceOp::Sum,
                  {.label = "prepare"})
      .wait();
  mark_prepared(figures);
  reach(options_.faults, kPrepared, options_.group.rank());
  Gradients all = take_figures(figures);
  if (race_ && plan_.left_out_max > 0) tell_left_out(mine, all);
  return all;
}

void DataParallel::tell_left_out(const Share& mine, Gradients& all) {
  race_->end();
  const auto ranks = static_cast<std::size_t>(options_.group.size());
  std::vector<double> told(ranks + 2);  // who is, terms of those who are not, and of all
  told[static_cast<std::size_t>(options_.group.rank())] = is_left_out_ ? 1 : 0;
  told[ranks] = is_left_out_ ? 0 : mine.terms;
  told[ranks + 1] = mine.terms;
  options_.group
      .all_reduce({told.data(), told.size(), comm::DType::Float64}, comm::ReduceOp::Sum,
                  {.label = "who is left out"})
      .wait();
  for (std::size_t rank = 0; rank < ranks; ++rank) all.is_left_out.push_back(told[rank] > 0);
  if (told[ranks] > 0) all.share = told[ranks] / told[ranks + 1];
}

Gradients DataParallel::take_figures(std::span<const double> figures) {
  Gradients all{
      .loss = figures[0], .is_stop_wanted = figures[1] > 0, .is_change_wanted = figures[2] > 0};
  std::copy_n(&figures[kReported], all.reported.size(), all.reported.begin());
  // Without slices every rank has counted all of it, with them every replica.
  all.norm = std::sqrt(figures[3] / (is_sliced() ? cut_.replicas : cut_.size));
  all.is_finite = std::isfinite(figures[3]);
  if (exchange_) all.traffic = is_coded_now() ? exchange_->traffic() : plain_traffic();
  is_used_.resize(options_.parameters.size());
  for (std::size_t i = 0; i < is_used_.size(); ++i) is_used_[i] = figures[kFigures + i] > 0;
  return all;
}

// Loss, wish to stop, wish to change, sum of squares, reported sums, and for each parameter whether
// it was used: what every rank adds to the rest.
std::vector<double> DataParallel::common_figures(const Share& mine) {
  double squares = 0;
  if (plan_.is_norm_wanted || plan_.is_checked) {
    for (std::size_t b = 0; b < layout_->plan.buckets.size(); ++b) {
      squares += optim::squared_norm(layout_->reduced.at(b, layout_->own[b]));
    }
  }
  std::vector<double> figures{mine.loss, mine.is_stop_wanted ? 1.0 : 0.0,
                              mine.is_change_wanted ? 1.0 : 0.0, squares};
  figures.insert(figures.end(), mine.reported.begin(), mine.reported.end());
  const std::size_t kept = options_.is_ordered ? plan_.micro_batches.size() : 1;
  for (std::size_t i = 0; i < options_.parameters.size(); ++i) {
    bool is_used = false;
    for (std::size_t micro_batch = 0; micro_batch < kept; ++micro_batch)
      is_used |= buckets_of(micro_batch).is_used(i);
    figures.push_back(is_used ? 1 : 0);
  }
  return figures;
}

std::vector<optim::Slice> DataParallel::slices(double rate, int rank, std::size_t b) {
  std::vector<optim::Slice> all;
  for (const Segment& segment :
       segments_of(layout_->plan.buckets[b], own_of(b, rank), groups_,
                   [&](std::size_t parameter) { return is_used_[parameter]; })) {
    const Parameter& like = options_.parameters[segment.parameter];
    optim::Slice slice{.value = layout_->values.at(b, segment.range),
                       .gradient = layout_->reduced.at(b, segment.range),
                       .state = {},
                       .learning_rate = rate * like.rate_factor,
                       .weight_decay = like.weight_decay,
                       .first_step = like.first_update,
                       .rule = like.rule};
    for (const FlatSpace& state : layout_->states)
      slice.state.push_back(state.at(b, segment.range));
    if (has_whole_parameters()) {
      slice.sizes = like.tensor.sizes().vec();
      slice.name = like.name;
    }
    all.push_back(std::move(slice));
  }
  return all;
}

std::vector<optim::Slice> DataParallel::slices(double rate, int rank) {
  std::vector<optim::Slice> all;
  for (std::size_t b = 0; b < layout_->plan.buckets.size(); ++b) {
    for (optim::Slice& slice : slices(rate, rank, b)) all.push_back(std::move(slice));
  }
  return all;
}

void DataParallel::update(const Update& how) {
  const c10::NoGradGuard no_grad;
  if (is_elastic()) return update_elastic(how);
  update_buckets(how);
}

// What arrived last is what the next forward pass reads first.
void DataParallel::update_buckets(const Update& how) {
  finish_publishing();
  for (std::size_t b = layout_->plan.buckets.size(); b-- > 0;) {
    const std::vector<optim::Slice> mine = slices(how.rate, cut_.rank, b);
    if (!mine.empty()) {
      if (plan_.clip_value > 0) optim::clip_by_value(mine, plan_.clip_value, how.scale);
      reach(options_.faults, kUpdating, options_.group.rank());
      options_.optimizer->update(mine, how.number, how.scale);
    }
    write_copy(b, cut_.rank);
    if (publishing_->is_gate()) publish(b);
  }
  mark_finished();
  if (!publishing_->is_gate()) publish();
}

void DataParallel::update_elastic(const Update& how) {
  if (status_.phase != StepStatus::Phase::Finished) {
    const std::vector<optim::Slice> mine = slices(how.rate, cut_.rank);
    if (plan_.clip_value > 0) optim::clip_by_value(mine, plan_.clip_value, how.scale);
    if (is_one_copy()) {
      page_->update(mine, *options_.optimizer, how.number, how.scale, options_.faults,
                    options_.group.rank());
    } else if (!mine.empty()) {
      reach(options_.faults, kUpdating, options_.group.rank());
      options_.optimizer->update(mine, how.number, how.scale);
    }
    write_copies(cut_.rank);
    made_ = how;
    mark_finished();
  }
  update_failed_ranks(how);
  // Before regroup() not all of the group have anything to publish.
  if (is_surviving_) return;
  try {
    publish();
  } catch (const Error&) {
    // The update is made, and whoever waits for others in the next step hears of it.
  }
}

void DataParallel::write_copies(int rank) {
  for (std::size_t b = 0; b < layout_->plan.buckets.size(); ++b) write_copy(b, rank);
}

// While the new values are still at hand.
void DataParallel::write_copy(std::size_t bucket, int rank) {
  if (!has_copies()) return;
  const ElementRange own = own_of(bucket, rank);
  layout_->copies.at(bucket, own).copy_(layout_->values.at(bucket, own));
}

void DataParallel::mark_prepared(std::span<const double> figures) {
  status_.phase = StepStatus::Phase::Prepared;
  if (page_) page_->prepare(figures);
  if (!options_.is_spread) return;
  status_.prepared = {.step = status_.step, .figures = {figures.begin(), figures.end()}};
}

void DataParallel::mark_finished() {
  status_.phase = StepStatus::Phase::Finished;
  if (exchange_) exchange_->commit();
  if (page_) page_->finish();
}

// New values become everybody's; finish_publishing() waits for that.
void DataParallel::publish() {
  if (gathering_) {
    gathering_->drop_all();  // what was whole is old
  } else if (is_one_copy()) {
    publish(0);  // one barrier is enough
  } else {
    for (std::size_t b = 0; b < layout_->plan.buckets.size(); ++b) publish(b);
  }
}

void DataParallel::publish(std::size_t b) {
  if (is_one_copy()) {
    publishing_->add(b, inside_.barrier({.label = "updated"}));
  } else if (is_sliced()) {
    publishing_->add(
        b, comm::all_gather(inside_, layout_->values.at(b, layout_->plan.buckets[b].range),
                            layout_->values.at(b, layout_->own[b]),
                            layout_->plan.buckets[b].slice_counts(inside_.size()),
                            {.label = "new values"}));
  }
}

void DataParallel::finish_publishing() {
  if (is_elastic()) throw_if_lost();
  if (publishing_) publishing_->finish();
}

void DataParallel::drop() {
  made_.reset();
  mark_finished();
}

void DataParallel::settle() {
  finish_publishing();
  broadcast_buffers();
  if (gathering_) gathering_->gather_all();
}

void DataParallel::check() {
  finish_publishing();
  // Where there is one copy of a value, it cannot differ from itself.
  if (gathering_) return;
  expect_same_values(is_one_copy() ? options_.across : options_.group, options_.parameters,
                     options_.group.rank());
}

std::vector<checkpoint::Piece> DataParallel::pieces() {
  if (!layout_) lay_out(order_of({}, options_.parameters.size()));
  finish_publishing();
  return data::own_pieces(*layout_, options_.parameters, options_.optimizer->state_names(),
                          /*has_empty=*/!is_sliced() || cut_.rank == 0);
}

void DataParallel::restored() {
  const c10::NoGradGuard no_grad;
  finish_publishing();
  write_copies(cut_.rank);
  publish();
  finish_publishing();
}

// Of values in slices, and of reduced gradients, every rank looks at its own.
std::string DataParallel::first_not_finite() const {
  const auto is_finite = [](const at::Tensor& values) {
    return std::isfinite(optim::squared_norm(values));
  };
  const auto own_part = [&](const FlatSpace& space, std::size_t i) {
    const std::size_t bucket = layout_->plan.bucket_of[i];
    const ElementRange part = common(layout_->plan.range_of[i], layout_->own[bucket]);
    return part.count() > 0 ? space.at(bucket, part) : space.memory.narrow(0, 0, 0);
  };
  for (std::size_t i = 0; i < options_.parameters.size(); ++i) {
    const Parameter& own = options_.parameters[i];
    if (!is_finite(gathering_ ? own_part(layout_->values, i) : own.tensor.detach())) {
      return own.name;
    }
  }
  for (std::size_t i = 0; layout_ && i < options_.parameters.size(); ++i) {
    if (!is_finite(own_part(layout_->reduced, i))) return options_.parameters[i].name;
  }
  return {};
}

}  // namespace trireme::parallel::data
