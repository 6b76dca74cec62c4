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

// Whether every replica runs the same number of micro-batches.
bool is_even(const StepPlan& plan, int replicas) {
  std::vector<int> counts(static_cast<std::size_t>(replicas));
  for (const int owner : plan.owners) ++counts[static_cast<std::size_t>(owner)];
  return std::adjacent_find(counts.begin(), counts.end(), std::not_equal_to<>()) == counts.end();
}

// The elements of a bucket's shard in parameters that this rank is the first holder of: one range,
// unless another rank of its replica is the first holder of some.
std::vector<ElementRange> first_held(const BucketPlan::Bucket& bucket, const ElementRange& shard,
                                     const std::vector<Parameter>& parameters) {
  const auto is_first_holder = [&](const BucketPlan::Entry& entry) {
    return parameters[entry.parameter].is_first_holder();
  };
  if (std::ranges::all_of(bucket.entries, is_first_holder)) return {shard};
  std::vector<ElementRange> ranges;
  for (const BucketPlan::Entry& entry : bucket.entries) {
    const ElementRange part = common(entry.range, shard);
    if (is_first_holder(entry) && part.count() > 0) ranges.push_back(part);
  }
  return ranges;
}

}  // namespace

DataParallel::DataParallel(Options options)
    : options_(std::move(options)),
      model_(options_.parameters, options_.model.get()),
      reduction_(composition_, options_.coding),
      updater_({.parameters = &options_.parameters,
                .groups = &model_.groups(),
                .optimizer = options_.optimizer,
                .has_whole_parameters = options_.has_whole_shards ||
                                        options_.optimizer->grain() == optim::Grain::WholeTensor,
                .faults = options_.faults}),
      buffers_(options_.buffers,
               {.can_undo = composition_.can_undo_passes(), .can_repeat = composition_.is_elastic}),
      commit_({.group = options_.commit_group.value_or(placement_.all),
               .flag_count = std::max(options_.flags.count, options_.parameters.size()),
               .can_leave_out = composition_.can_leave_out,
               .journal = &journal_,
               .has_figures_in_status = composition_.is_spread,
               .recalls_from_all = composition_.is_per_host(),
               .faults = options_.faults}),
      passes_({.model = &model_,
               .storage = &storage_,
               .gradients = &gradients_,
               .check =
                   [this] {
                     throw_if_lost();
                     throw_if_late();
                   }}),
      hooks_(options_.parameters, [this](std::size_t parameter) { on_gradient(parameter); }) {
  const c10::NoGradGuard no_grad;
  expect_one_type(options_.parameters);
  // Ranks of an elastic job meet in survive() and regroup().
  if (composition_.is_elastic) return;
  make_race();
  expect_same_parameters(placement_.all, options_.parameters);
  for (const Parameter& parameter : options_.parameters) {
    comm::broadcast(placement_.all, parameter.tensor.detach(), 0, {.label = "first weights"})
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
  const bool is_again = plan.is_repeated && commit_.status().step == plan.step;
  commit_.begin(plan.step);
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
  // The first layout needs all replicas, and a step needs one.
  const int left_out_max = std::min(plan_.left_out_max, placement_.all.size() - 1);
  if (race_ && storage_ && left_out_max > 0) race_->begin(left_out_max);
}

bool DataParallel::begin_micro_batch(std::size_t index) {
  if (gradients_ && gradients_->has(plan_.micro_batches[index])) return false;
  micro_batch_ = index;
  if (!storage_) return true;
  storage_->begin_micro_batch();
  gradients_->begin(index);
  return true;
}

void DataParallel::on_gradient(std::size_t parameter) {
  if (!storage_) {
    arrival_.push_back(parameter);
    return;
  }
  throw_if_late();
  gradients_->take(parameter);
  // A step that cannot be committed ends here, or after the micro-batch if its gradients are kept.
  if (!composition_.keeps_finished()) throw_if_lost();
  if (!is_lost()) reduction_.reducer()->poll();
}

void DataParallel::launch(std::size_t bucket) {
  if (!is_lost()) reduction_.reducer()->launch(bucket);
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
bool DataParallel::is_lost() const {
  return composition_.is_elastic && placement_.all.error().has_value();
}

void DataParallel::throw_if_lost() const {
  if (is_lost()) throw *placement_.all.error();
}

void DataParallel::make_race() {
  if (composition_.can_leave_out) race_ = std::make_unique<Race>(placement_.all);
}

// The step goes on without this rank, which contributes zeros.
void DataParallel::throw_if_late() {
  if (!race_ || !race_->is_lost()) return;
  is_left_out_ = true;
  throw Late();
}

// The forward passes of this rank do not change the statistics either.
void DataParallel::withdraw() {
  buffers_.undo();
  for (Parameter& parameter : options_.parameters) parameter.tensor.mutable_grad().reset();
  gradients_->clear();
}

void DataParallel::finish_reduction() {
  const c10::NoGradGuard no_grad;
  if (is_left_out_) withdraw();
  if (race_) race_->finish();
  // A rank without micro-batches in the first step has no layout yet.
  if (!storage_) lay_out_by(order_of(arrival_, options_.parameters.size()));
  throw_if_lost();
  reduction_.reducer()->finish();
  Reduced reduced{.squared_norm = squared_norm(), .traffic = reduction_.traffic(plan_.step)};
  reduced.flags.resize(options_.flags.begin);
  for (std::size_t i = 0; i < options_.parameters.size(); ++i) {
    reduced.flags.push_back(gradients_->is_used(i));
  }
  if (race_) race_->end();
  reduced.is_left_out = is_left_out_;
  commit_.contribute(std::move(reduced));
}

// Of the elements that this rank is the first holder of, among the ranks of all replicas.
double DataParallel::squared_norm() const {
  const bool is_first =
      composition_.is_sharded() ? placement_.is_first_holder() : placement_.all.rank() == 0;
  if (!is_first || (!plan_.is_norm_wanted && !plan_.is_checked)) return 0;
  const StorageLayout& layout = storage_->layout();
  double squares = 0;
  for (std::size_t b = 0; b < layout.plan.buckets.size(); ++b) {
    for (const ElementRange& range :
         first_held(layout.plan.buckets[b], layout.own[b], options_.parameters)) {
      squares += optim::squared_norm(layout.reduced.at(b, range));
    }
  }
  return squares;
}

void DataParallel::mark_finished() {
  if (reduction_.coded() != nullptr) reduction_.coded()->commit();
  commit_.finish();
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
  const auto first = commit_.result().flags.begin() + std::ptrdiff_t(options_.flags.begin);
  updater_.set_used({first, first + std::ssize(options_.parameters)});
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
  if (reduction_.coded() != nullptr) reduction_.coded()->undo();
  commit_.finish();
}

PassServices DataParallel::passes() {
  PassServices result{.waited = storage_ ? storage_->waited() : 0};
  if (composition_.lends_gradients()) result.gradient_buffers = &passes_;
  if (storage_ && storage_->has_copies()) result.weights = &passes_;
  if (composition_.is_interruptible()) result.interruption = &passes_;
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
    const StorageLayout& layout = storage_->layout();
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
  std::unique_ptr<Storage> storage = make_storage(blueprint);
  if (!is_attached) storage->fill(options_.parameters, placement_);
  blueprint_ = blueprint;
  storage_ = std::move(storage);
  cut_shards();
  gradients_ = make_gradients();
  gradients_->begin_step(plan_, false, 0);
  FlatSpace& reduced = storage_->layout().reduced;
  if (!reduced.memory.defined()) reduced = {gradients_->memory(), false, {}};
  reduction_.lay_out(storage_->layout(), placement_, blueprint_, options_.parameters);
  if (composition_.has_ledger(placement_)) open_journal();
  storage_->attach(options_.parameters, placement_, is_attached);
  reduction_.connect(storage_->layout(), *gradients_, placement_);
  reduction_.begin_step(plan_);
  on_laid_out();
}

std::unique_ptr<Storage> DataParallel::make_storage(const Blueprint& blueprint) const {
  const StorageKind kind = composition_.storage(placement_);
  BucketPlan plan =
      model_.buckets(blueprint.order, {.bytes = options_.bucket_size,
                                       .has_whole_parameters = updater_.has_whole_parameters(),
                                       .is_by_block = kind == StorageKind::Gathered});
  return Storage::make(kind,
                       {.plan = std::move(plan),
                        .state_count = options_.optimizer->state_names().size(),
                        .narrow_type = options_.narrow_type,
                        .is_elastic = composition_.is_elastic,
                        .has_whole_sums = composition_.is_ordered,
                        .has_own_sums = composition_.has_own_sums(),
                        .model = options_.model,
                        .blocks = model_.blocks()},
                       options_.parameters, placement_, blueprint.storage_names());
}

std::unique_ptr<MicroBatchGradients> DataParallel::make_gradients() {
  const at::ScalarType type = options_.parameters[0].tensor.scalar_type();
  return std::make_unique<MicroBatchGradients>(
      storage_->layout().plan, options_.parameters,
      MicroBatchGradients::Options{.is_ordered = composition_.is_ordered,
                                   .is_released = composition_.is_released(),
                                   .is_in_parts = composition_.sends_at_end(),
                                   .keeps_finished = composition_.keeps_finished(),
                                   .allocate =
                                       [this, type](std::int64_t count) {
                                         return private_flat(placement_.host, count, type);
                                       },
                                   .full = [this](std::size_t bucket) { launch(bucket); }});
}

// The ledger saves what an update may leave incomplete.
void DataParallel::open_journal() {
  const bool is_shared = composition_.is_shared(placement_);
  const at::Tensor& first = options_.parameters[0].tensor;
  Ledger::Shape shape{.figures = commit_.figure_count(),
                      .states = is_shared ? storage_->layout().states.size() : 0,
                      .element_size = static_cast<std::size_t>(first.element_size())};
  if (is_shared && updater_.has_whole_parameters()) {
    for (const Parameter& parameter : options_.parameters) {
      shape.run_max = std::max(shape.run_max, parameter.tensor.numel());
    }
  }
  journal_.open(placement_.host.arena(), blueprint_.name(Blueprint::kLedger), shape,
                placement_.host.arena_member());
  journal_.begin(commit_.status().step);
}

void DataParallel::cut_shards() {
  cut_ = {
      .places = placement_.places, .rank = placement_.host.rank(), .ranks = placement_.host.size()};
  journal_.set_places(cut_.places);
  storage_->cut(cut_.rank, cut_.ranks);
}

}  // namespace trireme::parallel::data
