#include "trireme/parallel/data/data_parallel.h"

#include <c10/core/GradMode.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <utility>

#include "trireme/base/machine/heap.h"
#include "trireme/optim/clip.h"
#include "trireme/parallel/consistency.h"
#include "trireme/parallel/data/storage/flat_memory.h"
#include "trireme/parallel/data/storage/pieces.h"

namespace trireme::parallel::data {
namespace {

// Whether every rank runs the same number of micro-batches.
bool is_even(const StepPlan& plan, int ranks) {
  std::vector<int> counts(static_cast<std::size_t>(ranks));
  for (const int owner : plan.owners) ++counts[static_cast<std::size_t>(owner)];
  return std::adjacent_find(counts.begin(), counts.end(), std::not_equal_to<>()) == counts.end();
}

}  // namespace

DataParallel::DataParallel(Options options)
    : options_(std::move(options)),
      composition_{.kind = options_.kind,
                   .is_ordered = options_.is_ordered,
                   .is_elastic = options_.is_elastic,
                   .is_spread = options_.is_spread,
                   .keeps_gradients = options_.keeps_gradients},
      placement_{.all = options_.group,
                 .host = options_.inside.value_or(options_.group),
                 .across = options_.across,
                 .replicas = options_.across.size()},
      model_(options_.parameters, options_.model.get()),
      reduction_({.composition = composition_,
                  .codec = options_.codec,
                  .codec_begin = options_.codec_begin,
                  .has_error_feedback = options_.has_error_feedback,
                  .seed = options_.seed}),
      updater_({.parameters = &options_.parameters,
                .groups = &model_.groups(),
                .optimizer = options_.optimizer,
                .has_whole_parameters = options_.has_whole_shards ||
                                        options_.optimizer->grain() == optim::Grain::WholeTensor,
                .faults = options_.faults}),
      buffers_(options_.buffers, {.can_undo = options_.is_elastic || options_.can_leave_out,
                                  .can_repeat = options_.is_elastic}),
      passes_({.model = &model_,
               .storage = &storage_,
               .gradients = &gradients_,
               .check =
                   [this] {
                     throw_if_lost();
                     if (race_ && race_->is_lost()) throw Late();
                   }}),
      hooks_(options_.parameters, [this](std::size_t parameter) { on_gradient(parameter); }) {
  const c10::NoGradGuard no_grad;
  expect_one_type(options_.parameters);
  if (options_.can_leave_out) race_ = std::make_unique<Race>(options_.group);
  // Ranks of an elastic job meet in regroup().
  if (options_.is_elastic) return;
  expect_same_parameters(options_.group, options_.parameters);
  for (const Parameter& parameter : options_.parameters) {
    comm::broadcast(options_.group, parameter.tensor.detach(), 0, {.label = "first weights"})
        .wait();
  }
  // Sharded values are sharded in the first step, too.
  if (composition_.storage(placement_) == StorageKind::Gathered) {
    lay_out_by(order_of({}, options_.parameters.size()));
    return_free_memory();
  }
}

void DataParallel::begin_step(const StepPlan& plan) {
  if (!storage_ || !storage_->is_gate()) finish_publishing();
  // Nothing throws from here until the kept gradients are where the new plan expects them.
  const int count_before = std::exchange(plan_, plan).micro_batch_count;
  // Another rank may have begun a step that this one did not.
  const bool is_again = plan.is_repeated && status_.step == plan.step;
  status_.step = plan.step;
  status_.phase = StepStatus::Phase::Open;
  journal_.begin(plan.step);
  if (gradients_) gradients_->begin_step(plan, is_again, count_before);
  if (is_again) {
    buffers_.reopen(gradients_ && !gradients_->is_empty());
    for (Parameter& parameter : options_.parameters) parameter.tensor.mutable_grad().reset();
    if (!storage_) arrival_.clear();
  } else {
    buffers_.open();
  }
  reduction_.begin_step(plan);
  if (storage_) storage_->begin_step(is_even(plan, placement_.all.size()));
  buffers_.begin_step(placement_.all, plan.is_repeated && plan.kept_micro_batches != 0);
  is_left_out_ = false;
  // The first layout needs all ranks.
  if (!storage_) plan_.left_out_max = 0;
  if (race_ && plan_.left_out_max > 0) race_->begin(plan_.left_out_max);
}

bool DataParallel::has_micro_batch(int micro_batch) const {
  return gradients_ && gradients_->has(micro_batch);
}

void DataParallel::begin_micro_batch(std::size_t index) {
  micro_batch_ = index;
  if (!storage_) return;
  storage_->begin_micro_batch();
  gradients_->begin(index);
}

void DataParallel::on_gradient(std::size_t parameter) {
  if (!storage_) {
    arrival_.push_back(parameter);
    return;
  }
  if (race_ && race_->is_lost()) throw Late();
  gradients_->take(parameter);
  if (composition_.is_elastic && placement_.all.error()) {
    // The step cannot be committed. Finish the micro-batch only if its gradients can be kept.
    if (!composition_.keeps_finished()) throw_if_lost();
    return;
  }
  reduction_.reducer()->poll();
}

void DataParallel::launch(std::size_t bucket) {
  // reduce() throws the error after the micro-batch, whose gradients can be kept.
  const bool is_lost = composition_.is_elastic && placement_.all.error().has_value();
  if (is_lost && composition_.keeps_finished()) return;
  reduction_.reducer()->launch(bucket);
}

void DataParallel::end_micro_batch() {
  if (!storage_) {
    // The gradients of the first step stayed in their parameters, because their order decides the
    // layout.
    lay_out_by(order_of(arrival_, options_.parameters.size()));
    begin_micro_batch(micro_batch_);
    for (std::size_t i = 0; i < options_.parameters.size(); ++i) gradients_->take(i);
    return_free_memory();
  }
  storage_->end_micro_batch();
  gradients_->end();
  buffers_.end_micro_batch();
}

// Only elastic jobs look for a loss between collectives: in other jobs a rank that has finished may
// leave before this one.
void DataParallel::throw_if_lost() const {
  if (!composition_.is_elastic) return;
  if (const std::optional<Error> error = placement_.all.error()) throw *error;
}

// This rank contributes zeros, and its forward passes do not change the statistics.
void DataParallel::leave_out() {
  is_left_out_ = true;
  buffers_.undo();
  for (Parameter& parameter : options_.parameters) parameter.tensor.mutable_grad().reset();
  gradients_->clear();
}

double DataParallel::total(double mine) {
  placement_.all
      .all_reduce({&mine, 1, comm::DType::Float64}, comm::ReduceOp::Sum, {.label = "total"})
      .wait();
  return mine;
}

Gradients DataParallel::reduce(const Share& mine) {
  const c10::NoGradGuard no_grad;
  if (race_) race_->finish();
  // A rank without micro-batches in the first step has no layout yet.
  if (!storage_) lay_out_by(order_of(arrival_, options_.parameters.size()));
  throw_if_lost();
  reduction_.reducer()->finish();
  std::vector<double> figures = common_figures(mine);
  placement_.all
      .all_reduce({figures.data(), figures.size(), comm::DType::Float64}, comm::ReduceOp::Sum,
                  {.label = "prepare"})
      .wait();
  mark_prepared(figures);
  reach(options_.faults, kPrepared, placement_.all.rank());
  Gradients all = take_figures(figures);
  if (race_ && plan_.left_out_max > 0) tell_left_out(mine, all);
  return all;
}

// Loss, wish to stop, wish to change, sum of squares, reported sums, and for each parameter whether
// it was used.
std::vector<double> DataParallel::common_figures(const Share& mine) {
  const Layout& layout = storage_->layout();
  double squares = 0;
  if (plan_.is_norm_wanted || plan_.is_checked) {
    for (std::size_t b = 0; b < layout.plan.buckets.size(); ++b) {
      squares += optim::squared_norm(layout.reduced.at(b, layout.own[b]));
    }
  }
  std::vector<double> figures{mine.loss, mine.is_stop_wanted ? 1.0 : 0.0,
                              mine.is_change_wanted ? 1.0 : 0.0, squares};
  figures.insert(figures.end(), mine.reported.begin(), mine.reported.end());
  for (std::size_t i = 0; i < options_.parameters.size(); ++i) {
    figures.push_back(gradients_->is_used(i) ? 1 : 0);
  }
  return figures;
}

Gradients DataParallel::take_figures(std::span<const double> figures) {
  Gradients all{
      .loss = figures[0], .is_stop_wanted = figures[1] > 0, .is_change_wanted = figures[2] > 0};
  std::copy_n(&figures[kReported], all.reported.size(), all.reported.begin());
  // Every rank has counted all elements, or every replica of a shard has.
  all.norm = std::sqrt(figures[3] / (composition_.is_sharded() ? cut_.replicas : cut_.ranks));
  all.is_finite = std::isfinite(figures[3]);
  all.traffic = reduction_.traffic(plan_.step);
  std::vector<bool> is_used(options_.parameters.size());
  for (std::size_t i = 0; i < is_used.size(); ++i) is_used[i] = figures[kFigures + i] > 0;
  updater_.set_used(std::move(is_used));
  return all;
}

void DataParallel::tell_left_out(const Share& mine, Gradients& all) {
  race_->end();
  const auto ranks = static_cast<std::size_t>(placement_.all.size());
  // By rank whether it is left out, then the loss terms of the others, and those of all.
  std::vector<double> told(ranks + 2);
  told[static_cast<std::size_t>(placement_.all.rank())] = is_left_out_ ? 1 : 0;
  told[ranks] = is_left_out_ ? 0 : mine.terms;
  told[ranks + 1] = mine.terms;
  placement_.all
      .all_reduce({told.data(), told.size(), comm::DType::Float64}, comm::ReduceOp::Sum,
                  {.label = "ranks left out"})
      .wait();
  for (std::size_t rank = 0; rank < ranks; ++rank) all.is_left_out.push_back(told[rank] > 0);
  if (told[ranks] > 0) all.share = told[ranks] / told[ranks + 1];
}

void DataParallel::mark_prepared(std::span<const double> figures) {
  status_.phase = StepStatus::Phase::Prepared;
  journal_.prepare(figures);
  if (!options_.is_spread) return;
  status_.prepared = {.step = status_.step, .figures = {figures.begin(), figures.end()}};
}

void DataParallel::mark_finished() {
  status_.phase = StepStatus::Phase::Finished;
  if (reduction_.coded() != nullptr) reduction_.coded()->commit();
  journal_.finish();
}

ShardUpdater::Shard DataParallel::own_shard() const {
  return {.rank = cut_.rank,
          .ranks = cut_.ranks,
          .max_grad_value = plan_.max_grad_value,
          .fault_rank = placement_.all.rank()};
}

// The next forward pass reads the last bucket first.
void DataParallel::update(const Update& how) {
  const c10::NoGradGuard no_grad;
  finish_publishing();
  for (std::size_t b = storage_->layout().plan.buckets.size(); b-- > 0;) {
    updater_.update(*storage_, b, own_shard(), how);
    if (storage_->is_gate()) storage_->publish(b, placement_);
  }
  mark_finished();
  if (!storage_->is_gate()) storage_->publish_all(placement_);
}

void DataParallel::finish_publishing() {
  throw_if_lost();
  if (storage_) storage_->finish();
}

void DataParallel::drop() {
  mark_finished();
}

PassServices DataParallel::passes() {
  PassServices result{.waited = storage_ ? storage_->waited() : 0};
  // Ordered sums keep each micro-batch's gradient apart, so layers write to their own memory, and a
  // micro-batch is always finished, because its gradients can be kept.
  if (!options_.is_ordered) result.gradient_buffers = &passes_;
  if (storage_ && storage_->has_copies()) result.weights = &passes_;
  if (race_ || (options_.is_elastic && !options_.is_ordered)) result.interruption = &passes_;
  return result;
}

void DataParallel::settle() {
  finish_publishing();
  buffers_.broadcast(placement_.all);
  if (storage_) storage_->gather();
}

void DataParallel::check() {
  finish_publishing();
  const StorageKind kind = composition_.storage(placement_);
  // Values that exist once cannot differ.
  if (kind == StorageKind::Gathered) return;
  expect_same_values(kind == StorageKind::Shared ? placement_.across : placement_.all,
                     options_.parameters, placement_.all.rank());
}

std::vector<checkpoint::Piece> DataParallel::pieces() {
  if (!storage_) lay_out_by(order_of({}, options_.parameters.size()));
  finish_publishing();
  return data::own_pieces(storage_->layout(), options_.parameters,
                          options_.optimizer->state_names(),
                          /*has_empty=*/!composition_.is_sharded() || cut_.rank == 0);
}

void DataParallel::restored() {
  const c10::NoGradGuard no_grad;
  finish_publishing();
  for (std::size_t b = 0; b < storage_->layout().plan.buckets.size(); ++b) {
    storage_->write_copy(b, storage_->layout().own[b]);
  }
  storage_->publish_all(placement_);
  finish_publishing();
}

std::vector<checkpoint::Piece> DataParallel::own_pieces() {
  if (!storage_) lay_out_by(order_of({}, options_.parameters.size()));
  const bool has_residuals =
      reduction_.coded() != nullptr && reduction_.coded()->feedback() != nullptr;
  return has_residuals ? reduction_.coded()->feedback()->pieces()
                       : std::vector<checkpoint::Piece>{};
}

void DataParallel::restore_own(const checkpoint::Checkpoint& from) {
  if (!storage_) lay_out_by(order_of({}, options_.parameters.size()));
  if (reduction_.coded() != nullptr && reduction_.coded()->feedback() != nullptr)
    reduction_.coded()->feedback()->restore(from);
}

// Of sharded values and of reduced gradients, every rank looks at its own.
std::string DataParallel::first_not_finite(bool has_gradients) const {
  const auto is_finite = [](const at::Tensor& values) {
    return std::isfinite(optim::squared_norm(values));
  };
  const auto own_part = [&](const FlatSpace& space, std::size_t i) {
    const Layout& layout = storage_->layout();
    const std::size_t bucket = layout.plan.bucket_of[i];
    const ElementRange part = common(layout.plan.range_of[i], layout.own[bucket]);
    return part.count() > 0 ? space.at(bucket, part) : space.memory.narrow(0, 0, 0);
  };
  const bool is_gathered = storage_ && composition_.storage(placement_) == StorageKind::Gathered;
  for (std::size_t i = 0; i < options_.parameters.size(); ++i) {
    const Parameter& own = options_.parameters[i];
    if (!is_finite(is_gathered ? own_part(storage_->layout().values, i) : own.tensor.detach())) {
      return own.name;
    }
  }
  const bool is_read = has_gradients && storage_ != nullptr;
  for (std::size_t i = 0; is_read && i < options_.parameters.size(); ++i) {
    if (!is_finite(own_part(storage_->layout().reduced, i))) return options_.parameters[i].name;
  }
  return {};
}

// Rank 0 decides: gradients that arrive in another order on other ranks only wait a little.
void DataParallel::lay_out_by(const std::vector<std::size_t>& order) {
  Blueprint blueprint = Blueprint::draw(order, options_.optimizer->state_names().size());
  const auto share = [](const comm::Group& group, std::vector<std::int64_t>& numbers,
                        const char* label) {
    group.broadcast({numbers.data(), numbers.size(), comm::DType::Int64}, 0, {.label = label})
        .wait();
  };
  share(placement_.all, blueprint.order, "layout");
  // Every host has its own shared memory.
  share(placement_.host, blueprint.names, "names of shared memory");
  lay_out(blueprint, /*is_attached=*/false);
}

// Nothing of this rank changes before its values are in their new place: a rank that is interrupted
// begins again. `is_attached`: other ranks of this host have a layout, and their values count.
void DataParallel::lay_out(const Blueprint& blueprint, bool is_attached) {
  const c10::NoGradGuard no_grad;
  const StorageKind kind = composition_.storage(placement_);
  auto storage =
      Storage::make(kind,
                    {.plan = model_.buckets(
                         blueprint.order, {.bytes = options_.bucket_size,
                                           .has_whole_parameters = updater_.has_whole_parameters(),
                                           .is_by_block = kind == StorageKind::Gathered}),
                     .state_count = options_.optimizer->state_names().size(),
                     .narrow_type = options_.narrow_type,
                     .is_elastic = options_.is_elastic,
                     .has_whole_sums = options_.is_ordered,
                     .has_own_sums = composition_.has_own_sums(),
                     .model = options_.model,
                     .blocks = model_.blocks()},
                    options_.parameters, placement_, blueprint.storage_names());
  if (!is_attached) storage->fill(options_.parameters, placement_);
  blueprint_ = blueprint;
  storage_ = std::move(storage);
  cut_shards();
  const Layout& layout = storage_->layout();
  const at::ScalarType type = options_.parameters[0].tensor.scalar_type();
  gradients_ = std::make_unique<MicroBatchGradients>(
      layout.plan, options_.parameters,
      MicroBatchGradients::Options{
          .is_ordered = options_.is_ordered,
          .is_released = composition_.is_released(),
          // Gradients that were sent cannot be taken back if this rank is left out.
          .is_in_parts = options_.is_in_parts || options_.can_leave_out,
          .keeps_finished = composition_.keeps_finished(),
          .allocate =
              [this, type](std::int64_t count) {
                return private_flat(placement_.host, count, type);
              },
          .full = [this](std::size_t bucket) { launch(bucket); }});
  gradients_->begin_step(plan_, false, 0);
  if (!layout.reduced.memory.defined()) {
    storage_->layout().reduced = {gradients_->memory(), false, {}};
  }
  reduction_.lay_out(*storage_, placement_, blueprint_, options_.parameters);
  const bool is_shared = kind == StorageKind::Shared;
  if (options_.is_elastic && (is_shared || !options_.is_spread)) {
    journal_.open(placement_.host.arena(), blueprint.name(Blueprint::kLedger), ledger_shape(),
                  placement_.host.arena_member());
    journal_.begin(status_.step);
  }
  storage_->attach(options_.parameters, placement_, is_attached);
  reduction_.connect(*storage_, *gradients_, placement_);
  reduction_.begin_step(plan_);
  on_laid_out();
}

// The ledger saves what an update may leave incomplete.
Ledger::Shape DataParallel::ledger_shape() const {
  const bool is_shared = composition_.storage(placement_) == StorageKind::Shared;
  const at::Tensor& first = options_.parameters[0].tensor;
  Ledger::Shape shape{.figures = figure_count(),
                      .states = is_shared ? storage_->layout().states.size() : 0,
                      .element_size = static_cast<std::size_t>(first.element_size())};
  if (!is_shared || !updater_.has_whole_parameters()) return shape;
  for (const Parameter& parameter : options_.parameters) {
    shape.run_max = std::max(shape.run_max, parameter.tensor.numel());
  }
  return shape;
}

void DataParallel::cut_shards() {
  cut_ = {.places = placement_.places,
          .rank = placement_.host.rank(),
          .ranks = placement_.host.size(),
          .replicas = placement_.replicas};
  storage_->cut(cut_.rank, cut_.ranks);
}

}  // namespace trireme::parallel::data
