#include "trireme/train/step.h"

#include <c10/core/GradMode.h>
#include <torch/utils.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "trireme/base/hash/xxh64.h"
#include "trireme/model/block_model.h"
#include "trireme/model/documents.h"
#include "trireme/optim/clip.h"
#include "trireme/train/autocast.h"
#include "trireme/train/micro_batch_seed.h"
#include "trireme/train/report/stopwatch.h"

namespace trireme::train {

Step::Step(Parts parts) : parts_(std::move(parts)) {}

Outcome Step::run(const Turn& turn) {
  parallel::GradientSync& gradient_sync = *parts_.gradient_sync;
  keep_micro_batches(turn);
  turn_ = turn;
  outcome_ = {};
  outcome_.is_repeated = turn.is_repeated;
  watch_ = {};
  const data::StepBatches& work = take_work();
  last_ = &work;
  outcome_.times.data = watch_.lap();
  outcome_.samples = work.total;
  for (const data::Batch& batch : work.batches) outcome_.own_samples += batch.count();
  outcome_.rate = parts_.schedule.rate(turn.updates) * parts_.rate_factor;

  gradient_sync.begin_step(plan(work));
  terms_ = terms_of(work);
  outcome_.times.wait += watch_.lap();
  const MicroBatchSums mine = run_unless_late(work);
  pass(kReduce);
  const parallel::Gradients all = gradient_sync.reduce({.loss = mine.loss,
                                                        .reported = mine.reported,
                                                        .is_stop_wanted = turn.is_stop_wanted,
                                                        .is_change_wanted = turn.is_change_wanted,
                                                        .terms = own_terms_});
  outcome_.times.wait += watch_.lap();
  return finish(all);
}

void Step::set_returned(std::vector<data::Returned> samples) {
  returned_ = std::move(samples);
  was_left_out_.clear();
}

// The batches of the loader, together with the samples that earlier steps returned.
const data::StepBatches& Step::take_work() {
  const data::StepBatches& given = parts_.loader->next();
  owners_ = parts_.micro_batch_owners;
  beyond_.clear();
  if (returned_.empty()) return given;
  work_ = given;
  add_returned();
  return work_;
}

// Appends returned samples to the last micro-batch of each rank that was not excluded in the last
// step. A separate pass over a few samples would compute statistics (batch norm) of only those few.
void Step::add_returned() {
  std::vector<int> ranks;
  for (int rank = 0; rank < parts_.ranks; ++rank) {
    const auto r = static_cast<std::size_t>(rank);
    const bool has_micro_batch = std::ranges::find(owners_, rank) != owners_.end();
    if (has_micro_batch && (r >= was_left_out_.size() || !was_left_out_[r])) ranks.push_back(rank);
  }
  const auto count = static_cast<std::int64_t>(ranks.size());
  for (const data::Returned& whole : std::exchange(returned_, {})) {
    for (std::int64_t i = 0; i < count; ++i) {
      const data::Returned part = data::part_of(whole, i, count);
      const int owner = ranks[static_cast<std::size_t>(i)];
      if (part.samples.count() == 0) continue;
      if (owner == parts_.rank) {
        data::append(work_.batches.back(), parts_.loader->read(part, work_.total));
      }
      beyond_.push_back({owner, part});
      work_.total += part.samples.count();
    }
  }
}

Step::MicroBatchSums Step::run_unless_late(const data::StepBatches& work) {
  try {
    return run_micro_batches(work);
  } catch (const parallel::Late&) {
    parts_.gradient_sync->leave_out();
    // The time so far is a lower bound for this rank's work; the balancer uses it to assign less.
    book(outcome_.times.backward);
    return {};
  }
}

// Returns the samples of excluded ranks, so that the next step runs them.
void Step::leave_out(const parallel::Gradients& all) {
  was_left_out_ = all.is_left_out;
  for (std::size_t rank = 0; rank < all.is_left_out.size(); ++rank) {
    if (all.is_left_out[rank]) outcome_.left_out.push_back(static_cast<int>(rank));
  }
  if (outcome_.left_out.empty()) return;
  const auto give_back = [&](int owner, const data::Returned& back) {
    if (!all.is_left_out[static_cast<std::size_t>(owner)] || back.samples.count() == 0) return;
    returned_.push_back(back);
    outcome_.samples -= back.samples.count();
  };
  for (std::size_t micro_batch = 0; micro_batch < owners_.size(); ++micro_batch) {
    give_back(owners_[micro_batch],
              parts_.loader->samples_of(*last_, static_cast<int>(micro_batch)));
  }
  for (const Beyond& more : beyond_) give_back(more.owner, more.samples);
}

std::uint64_t Step::assignment() const {
  std::vector<std::int64_t> all = parts_.loader->weights();
  all.push_back(static_cast<std::int64_t>(parts_.micro_batch_owners.size()));
  return xxh64(std::as_bytes(std::span(all))) | 1;
}

// Keeps the sums of the last attempt. If its micro-batches are split into pieces now, the first
// piece has the whole sum.
void Step::keep_micro_batches(const Turn& turn) {
  const auto micro_batches = static_cast<int>(parts_.micro_batch_owners.size());
  const int before = std::exchange(micro_batches_, micro_batches);
  const int pieces = micro_batches / before;
  const bool is_mine = std::exchange(assignment_, assignment()) == turn.kept_assignment;
  const bool is_kept = turn.is_repeated && is_mine && turn.step == turn_.step;
  kept_micro_batches_ = turn.kept_assignment == 0 ? 0
                        : is_mine                 ? before
                                                  : parallel::StepPlan::kOthersKeep;
  for (const auto& [micro_batch, sums] : std::exchange(sums_of_micro_batch_, {})) {
    if (is_kept) sums_of_micro_batch_[micro_batch * pieces] = sums;
  }
}

// Runs forward and backward of each micro-batch, and returns this rank's part of the sums.
Step::MicroBatchSums Step::run_micro_batches(const data::StepBatches& work) {
  parallel::GradientSync& gradient_sync = *parts_.gradient_sync;
  MicroBatchSums share;
  waited_ = gradient_sync.passes().waited;
  for (std::size_t i = 0; i < work.batches.size(); ++i) {
    const int micro_batch = work.micro_batches[i];
    if (!gradient_sync.has_micro_batch(micro_batch)) {
      current_ = {};
      current_.reported[3] = static_cast<double>(work.batches[i].skipped);
      gradient_sync.begin_micro_batch(i);
      pass(kForward);
      // A micro-batch may have no samples if the last batch of an epoch is small.
      if (work.batches[i].count() > 0) {
        torch::manual_seed(micro_batch_seed(parts_.config.seed, turn_.updates, micro_batch));
        const at::Tensor sum = forward(work, i);
        current_.loss = sum.item<double>();
        book(outcome_.times.forward);
        pass(kBackward);
        // A loss that is not finite has no gradient worth computing.
        if (std::isfinite(current_.loss))
          (is_scaled() ? sum * loss_scale_.scale() : sum).backward();
      }
      gradient_sync.end_micro_batch();
      sums_of_micro_batch_[micro_batch] = current_;
      book(outcome_.times.backward);
    }
    const MicroBatchSums& sums = sums_of_micro_batch_[micro_batch];
    share.loss += sums.loss;
    for (std::size_t k = 0; k < sums.reported.size(); ++k) share.reported[k] += sums.reported[k];
  }
  return share;
}

// The time in which a pass waited for other ranks counts as waiting, not as computing.
void Step::book(double& part) {
  const double now = parts_.gradient_sync->passes().waited;
  const double waiting = now - std::exchange(waited_, now);
  part += watch_.lap() - waiting;
  outcome_.times.wait += waiting;
}

Outcome Step::finish(const parallel::Gradients& all) {
  outcome_.loss = all.loss;
  outcome_.is_stop_wanted = all.is_stop_wanted;
  outcome_.is_change_wanted = all.is_change_wanted;
  outcome_.traffic = all.traffic;
  leave_out(all);
  // Without the excluded ranks, the sums have fewer terms than they were divided by.
  const double whole = 1 / all.share;
  outcome_.loss *= whole;
  outcome_.skipped = std::min<std::int64_t>(std::llround(all.reported[3]), outcome_.samples);
  outcome_.samples -= outcome_.skipped;
  // Replicas that train on their own batches make the same number of updates: a replica without
  // samples updates with a zero gradient.
  outcome_.is_empty = outcome_.skipped > 0 && outcome_.samples == 0 &&
                      !parts_.gradient_sync->saved().has_replicas();
  const data::Form& form = parts_.loader->source().form();
  if (form.is_regression() && outcome_.samples > 0) {
    const auto count = static_cast<double>(outcome_.samples * form.target_count());
    outcome_.errors = {.squared = all.reported[0] / count,
                       .absolute = all.reported[1] / count,
                       .standardized = all.reported[2] / count};
  }
  const double unscale = (is_scaled() ? loss_scale_.inverse() : 1) * whole;
  const bool was_finite = std::isfinite(all.loss) && all.is_finite;
  outcome_.is_finite = is_scaled() ? loss_scale_.update(was_finite) : was_finite;
  if (outcome_.is_finite && !outcome_.is_empty) {
    const optim::Clipped clipped =
        optim::clip_by_norm(all.norm * all.norm, parts_.max_grad_norm, unscale);
    outcome_.norm = clipped.norm;
    parts_.gradient_sync->update(
        {.number = turn_.updates + 1, .rate = outcome_.rate, .scale = clipped.scale});
  } else {
    parts_.gradient_sync->drop();
  }
  outcome_.times.update = watch_.lap();
  return outcome_;
}

parallel::StepPlan Step::plan(const data::StepBatches& work) const {
  parallel::StepPlan plan{.step = turn_.step,
                          .is_repeated = turn_.is_repeated,
                          .kept_micro_batches = kept_micro_batches_,
                          .micro_batch_count = static_cast<int>(owners_.size()),
                          .micro_batches = work.micro_batches,
                          .owners = owners_};
  // The samples that the last step of an epoch excludes would run in the next epoch.
  const bool can_leave_out = turn_.can_leave_out && !parts_.loader->is_epoch_over();
  plan.left_out_max = can_leave_out ? parts_.left_out_max : 0;
  plan.is_norm_wanted = parts_.max_grad_norm > 0;
  plan.is_checked = is_scaled() || parts_.config.non_finite != NonFinite::Stop ||
                    parts_.config.fallback_steps > 0;
  plan.max_grad_value = parts_.max_grad_value;
  // If samples may be skipped, a step may have no samples, and then makes no update.
  const bool can_be_empty = parts_.loader->source().form().are_bad_samples_skipped;
  if (!plan.is_norm_wanted && !plan.is_checked && plan.max_grad_value == 0 && !can_be_empty) {
    plan.early = parallel::Update{.number = turn_.updates + 1, .rate = outcome_.rate};
  }
  return plan;
}

model::Context Step::context(const data::StepBatches& work, std::size_t index) const {
  const parallel::PassServices passes = parts_.gradient_sync->passes();
  return {
      .is_training = true,
      .seed = parts_.config.seed,
      .step = turn_.updates,
      .micro_batch = work.micro_batches[index],
      .places = work.batches[index].places,
      .documents = model::documents_in(work.batches[index].input, parts_.loader->source().form()),
      .homes = passes.gradient_buffers,
      .copies = passes.weights,
      .interruption = passes.interruption};
}

// The number of loss terms of the global batch, over the samples that could be read.
double Step::terms_of(const data::StepBatches& work) {
  double mine = 0;
  std::int64_t samples = 0;
  for (const data::Batch& batch : work.batches) {
    if (batch.count() > 0) mine += static_cast<double>(parts_.loss->terms(batch.target));
    samples += batch.count();
  }
  own_terms_ = mine;
  const bool can_be_fewer = parts_.loader->source().form().are_bad_samples_skipped;
  if (!parts_.loss->has_even_terms() || can_be_fewer) {
    return std::max(1.0, parts_.gradient_sync->total(mine));
  }
  return samples == 0 ? 1 : mine / static_cast<double>(samples) * static_cast<double>(work.total);
}

at::Tensor Step::forward(const data::StepBatches& work, std::size_t index) {
  const data::Batch& batch = work.batches[index];
  std::vector<at::Tensor> auxiliary;
  model::Context known = context(work, index);
  known.losses = &auxiliary;
  const Autocast precision(parts_.config.precision);
  const at::Tensor output = parts_.model->forward(batch.input, known);
  note_errors(output, batch.target);
  at::Tensor sum = parts_.loss->sum(output, batch.target);
  for (const at::Tensor& more : auxiliary) sum = sum + more;
  return sum * (1.0 / terms_);
}

// Adds up the prediction errors of a regression.
void Step::note_errors(const at::Tensor& output, const at::Tensor& target) {
  const data::Form& form = parts_.loader->source().form();
  if (!form.is_regression() || output.numel() != target.numel()) return;
  const c10::NoGradGuard no_grad;
  const at::Tensor off = output.detach().to(at::kDouble).reshape(target.sizes()) - target;
  const at::Tensor units = data::restored_difference(off, form.target_standards);
  current_.reported[0] = units.square().sum().item<double>();
  current_.reported[1] = units.abs().sum().item<double>();
  const at::Tensor relative = data::standardized(off, form.target_spreads);
  current_.reported[2] = relative.square().sum().item<double>();
}

std::string Step::first_block_not_finite() {
  auto* model = dynamic_cast<model::BlockModel*>(parts_.model.get());
  if (model == nullptr || last_ == nullptr) return {};
  const c10::NoGradGuard no_grad;
  const Autocast precision(parts_.config.precision);
  for (std::size_t i = 0; i < last_->batches.size(); ++i) {
    if (last_->batches[i].count() == 0) continue;
    const model::Context known = context(*last_, i);
    model::Activations at;
    at.main = last_->batches[i].input;
    for (std::size_t b = 0; b < model->paths().size(); ++b) {
      at = model->forward_blocks(std::move(at), known, b, b + 1);
      if (!std::isfinite(at.main.sum().item<double>())) return model->paths()[b];
    }
  }
  return {};
}

}  // namespace trireme::train
