#include "trireme/train/trainer.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include "trireme/base/error.h"
#include "trireme/base/liveness.h"
#include "trireme/parallel/consistency.h"
#include "trireme/parallel/kinds.h"
#include "trireme/train/recovery/incident_report.h"

namespace trireme::train {
namespace {

// Limits the work that can be lost if checkpoint.every is 0 and epochs are long.
constexpr std::int64_t kStepsUnsavedMax = 1000;

constexpr auto kWaitSlice = std::chrono::seconds(1);

JobState first_state(const Job& job) {
  JobState state;
  state.progress.recipe = job.config.to_toml();
  state.progress.job_hash = job.hash;
  state.progress.metric = job.eval().metric;
  state.progress.planned = job.steps;
  return state;
}

}  // namespace

Trainer::Trainer(Job& job, Options options)
    : job_(job),
      options_(std::move(options)),
      state_(first_state(job)),
      saved_({.job = &job,
              .state = &state_,
              .watch = &watch_,
              .reporter = options_.reporter,
              .folder = options_.output,
              .allowed_changes = options_.allowed_changes,
              .faults = options_.faults,
              .check = [this](const auto& pieces) { non_finite_.refuse_broken_weights(pieces); }}),
      non_finite_({.job = &job, .state = &state_, .saved = &saved_, .reporter = options_.reporter}),
      evaluations_({.job = &job,
                    .state = &state_,
                    .reporter = options_.reporter,
                    .is_stop_wanted = &is_stop_wanted()}),
      balancer_(job, *options_.reporter) {
  if (options_.world == nullptr) return;
  recovery_.emplace(
      Recovery::Options{.world = options_.world,
                        .job = &job_,
                        .state = &state_,
                        .advance = [this](const Outcome& outcome) { advance(outcome); },
                        .adopt = [this](const JobState& all) { adopt(all); },
                        .regroup = [this] { regroup(); }});
}

// If a worker dies during this, all ranks call it again.
void Trainer::begin() {
  saved_.open(options_.is_resumed);
  const bool has_steps = state_.progress.step == 0 || state_.progress.step < job_.steps;
  if (has_steps && options_.keep_recipe && job_.group.rank() == 0) options_.keep_recipe();
  state_.is_open = true;
}

TrainingOutcome Trainer::run() {
  bool is_met = options_.world == nullptr;
  bool is_hurt = false;
  while (true) {
    try {
      if (std::exchange(is_hurt, false)) survive();
      if (!is_met) {
        is_met = true;
        const Liveness::LongPhase beginning(job_.liveness.get());
        // With this worker the job may still have too few workers, and all of them wait.
        take_change(recovery_->begin());
      }
      if (!state_.is_open) begin();
      options_.reporter->begin(job_, state_.progress);
      state_.peak_flops = options_.reporter->peak_flops();
      return finish(train());
    } catch (const Error& error) {
      const bool is_loss = Recovery::is_loss(error);
      if (is_loss && is_over()) return TrainingOutcome::Done;
      // In a job of fixed size, nothing replaces a rank.
      if (options_.world == nullptr) throw;
      if (options_.world->is_dismissed()) {
        // The other workers continue without this one, so its collectives would never end.
        job_.group.abort(Error(ErrorCode::Aborted, "this worker was dismissed"));
        return TrainingOutcome::Dismissed;
      }
      if (!is_loss) throw;
      is_hurt = true;
    }
  }
}

// Trains from the current step to the last one, and repeats a step that a failure interrupted.
TrainingOutcome Trainer::train() {
  while (true) {
    if (!evaluations_.has_patience()) return TrainingOutcome::NoBetter;
    const TrainingOutcome ending = attend();
    if (ending != TrainingOutcome::Done || state_.progress.step >= job_.steps) return ending;
    const Outcome outcome = run_step();
    advance(outcome);
    const std::chrono::duration<double> length(outcome.times.total());
    job_.liveness->end_step(std::chrono::duration_cast<Duration>(length));
  }
}

Outcome Trainer::run_step() {
  const Progress& progress = state_.progress;
  balancer_.begin_step();
  if (options_.before_step) options_.before_step(progress.step);
  const bool is_change_wanted = options_.world != nullptr && options_.world->is_change_wanted();
  job_.step->parts().config.precision = non_finite_.precision();
  const Outcome outcome = job_.step->run({.step = progress.step,
                                          .updates = progress.updates,
                                          .is_stop_wanted = is_stop_wanted().load(),
                                          .is_change_wanted = is_change_wanted,
                                          .can_leave_out = progress.step + 1 < job_.steps,
                                          .is_repeated = state_.next.is_repeated,
                                          .kept_assignment = state_.next.assignment});
  balancer_.end_step(outcome);
  return outcome;
}

// Does everything that follows a step (checks, evaluation, checkpoint), once per step.
TrainingOutcome Trainer::attend() {
  const std::int64_t step = state_.progress.step;
  if (state_.attended_at == step) return TrainingOutcome::Done;
  // If a worker dies during this, the survivors do it again.
  non_finite_.react();
  compare_ranks();
  balancer_.look(step);
  if (saved_.checkpoints() != nullptr) saved_.checkpoints()->look();
  // The process that asked the job to stop may not wait for an evaluation.
  if (state_.is_stopping) return TrainingOutcome::Stopped;
  if (evaluations_.are_due()) {
    if (!evaluate()) return TrainingOutcome::Stopped;
    if (!evaluations_.has_patience()) return TrainingOutcome::NoBetter;
  }
  // The last step is saved by finish(), with its score.
  if (step < job_.steps && is_save_due()) saved_.save();
  state_.attended_at = step;
  if (is_change_wanted_ && step < job_.steps) {
    is_change_wanted_ = false;
    // A worker was lost before all ranks were ready for the change; the next step asks again.
    if (const std::optional<Error> error = job_.group.error()) throw *error;
    take_change(recovery_->change());
    // If some rank had not completed this function, all ranks do it again.
    return attend();
  }
  return TrainingOutcome::Done;
}

TrainingOutcome Trainer::finish(TrainingOutcome ending) {
  const Liveness::LongPhase writing(job_.liveness.get());
  if (ending != TrainingOutcome::Stopped) {
    job_.gradient_sync().model().join();
    if (!evaluate()) ending = TrainingOutcome::Stopped;
  }
  saved_.save();
  if (saved_.checkpoints() != nullptr) saved_.checkpoints()->finish();
  if (options_.world != nullptr) {
    is_ending_ = true;
    saved_.meet_after_files("the last checkpoint");
  }
  // From here on no rank depends on another one.
  is_finished_ = true;
  count_time();
  options_.reporter->end(state_.progress, ending);
  if (options_.world != nullptr) {
    if (job_.group.rank() == 0) options_.world->announce_end();
    job_.group.barrier({.label = "the end"}).wait();
  }
  return ending;
}

// False if the evaluation was given up because the job has to stop.
bool Trainer::evaluate() {
  if (!evaluations_.are_open()) return true;
  const Liveness::LongPhase evaluating(job_.liveness.get());
  // The first evaluation may fail for new reasons, such as its data or memory. A checkpoint before
  // it preserves the training so far.
  if (state_.evaluated_at < 0) saved_.save();
  return evaluations_.run();
}

// The checkpoint of this step may lack the part of the lost worker, so all ranks save it again.
void Trainer::survive() {
  is_ending_ = false;
  if (state_.saved_at == state_.progress.step) state_.saved_at = -1;
  take_change(recovery_->survive());
}

// Reports the change, and waits while the job has fewer than elastic.min_workers workers.
void Trainer::take_change(const Recovery::Incident& incident) {
  ElasticWorld& world = *options_.world;
  report_incident(*options_.reporter, incident, world.epoch());
  bool is_told = false;
  while (world.group().size() < world.least()) {
    if (is_stop_wanted().load() || world.is_end_announced()) return;
    if (!is_told) {
      options_.reporter->warn("waiting for workers: " + std::to_string(world.group().size()) +
                                  " of at least " + std::to_string(world.least()),
                              {{"event", "waiting for workers"},
                               {"workers", world.group().size()},
                               {"least", world.least()}});
      is_told = true;
    }
    try {
      world.wait_for_more(Deadline::after(kWaitSlice));
    } catch (const Error& error) {
      if (error.code() != ErrorCode::Deadline) throw;
      // The other members may know of a loss that this worker does not, and have left the group.
      if (const std::optional<Error> ended = world.group().look()) throw *ended;
      continue;
    }
    report_incident(*options_.reporter, recovery_->change(), world.epoch());
  }
}

void Trainer::adopt(const JobState& all) {
  // Only some ranks may know of a pending change; the next step asks all ranks again.
  is_change_wanted_ = false;
  // The time before a worker joined does not count for the job.
  if (options_.world->is_new()) watch_ = {};
  state_ = all;
  job_.step->work().set_returned(state_.progress.returned);
  job_.follow(state_.progress);
  options_.reporter->raise_peak_flops(all.peak_flops);
}

void Trainer::regroup() {
  balancer_.restart();
  if (!state_.is_open) return;
  saved_.regroup();
  options_.reporter->set_ranks(job_.group.size());
  if (job_.group.rank() == 0) options_.reporter->take_over(job_, state_.progress);
}

void Trainer::advance(const Outcome& outcome) {
  non_finite_.note(outcome);
  count(outcome);
  state_.score.reset();
  state_.is_stopping = outcome.is_stop_wanted;
  is_change_wanted_ = outcome.is_change_wanted;
  // The assignment of a repeated step holds for that step only.
  if (std::exchange(state_.next.is_repeated, false)) job_.assign(job_.fair_owners());
  const Progress& progress = state_.progress;
  // Replicas that can be left out are one rank each (StepCommit::Options::can_leave_out).
  for (const int rank : outcome.left_out) {
    Record event{{"event", "left out"}, {"step", progress.step}, {"rank", rank}};
    const std::vector<int>& workers = balancer_.workers();
    if (!workers.empty()) event.add({"worker", workers.at(static_cast<std::size_t>(rank))});
    options_.reporter->event(event);
  }
  options_.reporter->step(progress, outcome);
  state_.peak_flops = options_.reporter->peak_flops();
  if (options_.after_step) options_.after_step(progress, outcome);
}

void Trainer::count(const Outcome& outcome) {
  count_time();
  Progress& progress = state_.progress;
  ++progress.step;
  if (outcome.is_finite && !outcome.is_empty) ++progress.updates;
  progress.samples += outcome.samples;
  progress.position = job_.loader().position();
  progress.returned = job_.step->work().returned();
  const optim::LossScale::State& scale = job_.step->loss_scale().state();
  progress.loss_scale = scale.scale;
  progress.loss_scale_good_steps = scale.good_steps;
}

void Trainer::compare_ranks() {
  const auto& sync = job_.config.get<parallel::SyncConfig>(parallel::kSyncSection);
  if (sync.check_every == 0 || state_.progress.step % sync.check_every != 0) return;
  job_.gradient_sync().model().check();
  if (!job_.mesh.has(parallel::tensor::kTensorAxis)) return;
  // The ranks of a replica update the weights that are not cut by themselves.
  job_.gradient_sync().model().settle();
  std::vector<parallel::Parameter> common;
  for (parallel::Parameter& one : parallel::parameters_of(*job_.model)) {
    if (!job_.layouts.contains(one.name)) common.push_back(std::move(one));
  }
  expect_same_values(job_.mesh.group(parallel::tensor::kTensorAxis), common, job_.group.rank());
}

bool Trainer::is_save_due() const {
  const CheckpointConfig& config = job_.checkpoint();
  const std::int64_t step = state_.progress.step;
  const bool is_best = state_.score && state_.progress.best_step == step;
  const std::int64_t unsaved = step - std::max<std::int64_t>(state_.saved_at, 0);
  return job_.is_due(config.every, step) || (config.is_best_kept && is_best) ||
         (config.every == 0 && unsaved >= kStepsUnsavedMax);
}

// Whether all ranks have saved everything, as this rank knows or as rank 0 has announced.
bool Trainer::is_over() const {
  return is_finished_ || (is_ending_ && options_.world->is_end_announced());
}

const std::atomic<bool>& Trainer::is_stop_wanted() const {
  return options_.is_stop_wanted != nullptr ? *options_.is_stop_wanted : never_;
}

}  // namespace trireme::train
