#include "trireme/train/step.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "trireme/base/hash/xxh64.h"
#include "trireme/optim/clip.h"
#include "trireme/train/pass_schedule.h"

namespace trireme::train {

Step::Step(Parts parts)
    : parts_(std::move(parts)),
      work_(parts_.loader),
      executor_({.model = parts_.model,
                 .loss = parts_.loss,
                 .loader = parts_.loader,
                 .gradient_sync = parts_.gradient_sync,
                 .device = parts_.device,
                 .pipeline = parts_.pipeline,
                 .seed = parts_.config.seed,
                 .faults = parts_.faults}) {}

Outcome Step::run(const Turn& turn) {
  parallel::GradientSync& gradient_sync = *parts_.gradient_sync;
  begin(turn);
  const int kept_micro_batches = begin_attempt();
  const data::StepBatches& work = work_.next(parts_.micro_batch_owners);
  for (const data::Batch& batch : work.batches) outcome_.own_samples += batch.count();
  outcome_.samples = work.total;
  timer_.book(&StepTimes::data);

  gradient_sync.begin_step(plan(work, kept_micro_batches));
  const double terms = own_terms(work);
  const Executor::Input input{.work = &work,
                              .updates = turn.updates,
                              .terms = terms_of(work, terms),
                              .loss_scale = is_scaled() ? loss_scale_.scale() : 1,
                              .precision = parts_.config.precision};
  timer_.book(&StepTimes::wait);
  if (parts_.pipeline) {
    executor_.run_stages(input, timer_);
  } else {
    executor_.run(forward_backward(work.batches.size()), input, timer_);
  }
  reach(parts_.faults, kReduce, 0);
  gradient_sync.finish_reduction();
  const PassSums mine = executor_.sums();
  const parallel::CommitResult all = gradient_sync.commit().prepare(contribution(mine, terms));
  timer_.book(&StepTimes::wait);
  return finish(all);
}

void Step::begin(const Turn& turn) {
  turn_ = turn;
  timer_ = {};
  outcome_ = {};
  outcome_.is_repeated = turn.is_repeated;
  outcome_.learning_rate = parts_.schedule.rate(turn.updates) * parts_.lr_factor;
}

// Keeps the sums of micro-batches whose gradients count in this attempt, too. Returns
// StepPlan::kept_micro_batches.
int Step::begin_attempt() {
  const Attempt last =
      std::exchange(attempt_, {.step = turn_.step,
                               .micro_batches = static_cast<int>(parts_.micro_batch_owners.size()),
                               .assignment = assignment()});
  const bool is_mine = last.assignment == turn_.kept_assignment;
  const bool is_kept = turn_.is_repeated && is_mine && turn_.step == last.step;
  executor_.keep_sums(is_kept ? attempt_.micro_batches / last.micro_batches : 0);
  if (turn_.kept_assignment == 0) return 0;
  return is_mine ? last.micro_batches : parallel::StepPlan::kOthersKeep;
}

Outcome Step::finish(const parallel::CommitResult& all) {
  note(all);
  // Without the excluded replicas, the sums have fewer terms than they were divided by.
  const double whole = 1 / all.share;
  const double unscale = (is_scaled() ? loss_scale_.inverse() : 1) * whole;
  outcome_.is_finite = is_scaled() ? loss_scale_.update(all.is_finite) : all.is_finite;
  if (outcome_.is_finite && !outcome_.is_empty) {
    const optim::Clipped clipped =
        optim::clip_by_norm(all.norm * all.norm, parts_.max_grad_norm, unscale);
    outcome_.norm = clipped.norm;
    parts_.gradient_sync->update({.number = turn_.updates + 1,
                                  .learning_rate = outcome_.learning_rate,
                                  .scale = clipped.scale});
  } else {
    parts_.gradient_sync->drop();
  }
  timer_.book(&StepTimes::update);
  outcome_.times = timer_.times();
  return outcome_;
}

// What the ranks contributed together.
void Step::note(const parallel::CommitResult& all) {
  outcome_.loss = all.loss / all.share;
  outcome_.is_stop_wanted = all.is_stop_wanted;
  outcome_.is_change_wanted = all.is_change_wanted;
  outcome_.traffic = all.traffic;
  outcome_.left_out = all.left_out;
  outcome_.samples -= work_.take_back(all.left_out);
  outcome_.skipped = std::min<std::int64_t>(std::llround(all.reported[3]), outcome_.samples);
  outcome_.samples -= outcome_.skipped;
  // Replicas that train on their own batches make the same number of updates: a replica without
  // samples updates with a zero gradient.
  outcome_.is_empty = outcome_.skipped > 0 && outcome_.samples == 0 &&
                      !parts_.gradient_sync->saved().has_replicas();
  note_errors(all.reported);
}

void Step::note_errors(const parallel::ReportedSums& sums) {
  const data::Form& form = parts_.loader->source().form();
  if (!form.is_regression() || outcome_.samples == 0) return;
  const auto count = static_cast<double>(outcome_.samples * form.target_count());
  outcome_.errors = {
      .squared = sums[0] / count, .absolute = sums[1] / count, .standardized = sums[2] / count};
}

parallel::StepPlan Step::plan(const data::StepBatches& work, int kept_micro_batches) const {
  parallel::StepPlan plan{.step = turn_.step,
                          .is_repeated = turn_.is_repeated,
                          .kept_micro_batches = kept_micro_batches,
                          .micro_batch_count = attempt_.micro_batches,
                          .micro_batches = work.micro_batches,
                          .owners = parts_.micro_batch_owners};
  plan.left_out_max = can_leave_out() ? parts_.left_out_max : 0;
  plan.is_norm_wanted = parts_.max_grad_norm > 0;
  plan.is_checked = is_scaled() || parts_.config.non_finite != NonFinite::Stop ||
                    parts_.config.fallback_steps > 0;
  plan.max_grad_value = parts_.max_grad_value;
  if (!depends_on_all_gradients(plan)) {
    plan.early =
        parallel::Update{.number = turn_.updates + 1, .learning_rate = outcome_.learning_rate};
  }
  return plan;
}

// The samples that the last step of an epoch excludes would run in the next epoch.
bool Step::can_leave_out() const {
  return turn_.can_leave_out && !turn_.is_repeated && !parts_.loader->is_epoch_over();
}

// Whether the update, or whether there is one, is known only once all gradients are reduced. If
// samples may be skipped, a step may have no samples, and then makes no update.
bool Step::depends_on_all_gradients(const parallel::StepPlan& plan) const {
  return plan.is_norm_wanted || plan.is_checked || plan.max_grad_value != 0 ||
         parts_.loader->source().form().are_bad_samples_skipped;
}

std::uint64_t Step::assignment() const {
  std::vector<std::int64_t> all = parts_.loader->weights();
  all.push_back(static_cast<std::int64_t>(parts_.micro_batch_owners.size()));
  return xxh64(std::as_bytes(std::span(all))) | 1;
}

parallel::Contribution Step::contribution(const PassSums& sums, double terms) const {
  parallel::Contribution mine{.is_stop_wanted = turn_.is_stop_wanted,
                              .is_change_wanted = turn_.is_change_wanted};
  if (!parts_.has_loss) return mine;
  mine.loss = sums.loss;
  mine.reported = sums.reported;
  mine.terms = terms;
  return mine;
}

// The number of loss terms of this replica's samples that could be read.
double Step::own_terms(const data::StepBatches& work) const {
  double terms = 0;
  for (const data::Batch& batch : work.batches) {
    if (batch.count() > 0) terms += static_cast<double>(parts_.loss->terms(batch.target));
  }
  return terms;
}

// The same of the global batch.
double Step::terms_of(const data::StepBatches& work, double own) {
  const bool can_be_fewer = parts_.loader->source().form().are_bad_samples_skipped;
  if (!parts_.loss->has_even_terms() || can_be_fewer) {
    return std::max(1.0, parts_.gradient_sync->commit().total(parts_.has_loss ? own : 0));
  }
  const auto samples = static_cast<double>(outcome_.own_samples);
  return samples == 0 ? 1 : own / samples * static_cast<double>(work.total);
}

}  // namespace trireme::train
