#include "trireme/train/trainer.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <map>
#include <string>
#include <utility>

#include "trireme/base/error.h"
#include "trireme/base/liveness.h"
#include "trireme/data/data_config.h"
#include "trireme/optim/clip.h"
#include "trireme/optim/kinds.h"
#include "trireme/parallel/kinds.h"
#include "trireme/train/averaged_weights.h"
#include "trireme/train/divergence.h"
#include "trireme/train/evaluate/evaluation.h"
#include "trireme/train/recipe/job_id.h"
#include "trireme/train/report/checkpoint_meta.h"
#include "trireme/train/resumption.h"
#include "trireme/train/saved_pieces.h"

namespace trireme::train {
namespace {

// Limits the work that can be lost if checkpoint.every is 0 and epochs are long.
constexpr std::int64_t kStepsUnsavedMax = 1000;

bool is_better(double score, double best, const std::string& metric) {
  if (std::isnan(best)) return !std::isnan(score);
  return is_larger_better(metric) ? score > best : score < best;
}

// The tensors of the model that are not synchronized: buffers and frozen parameters.
std::map<std::string, at::Tensor> untrained_of(const torch::nn::Module& model) {
  std::map<std::string, at::Tensor> all;
  for (const auto& buffer : model.named_buffers()) all[buffer.key()] = buffer.value().detach();
  for (const auto& parameter : model.named_parameters()) {
    if (!parameter.value().requires_grad()) all[parameter.key()] = parameter.value().detach();
  }
  return all;
}

}  // namespace

Trainer::Trainer(Job& job, Options options)
    : job_(job),
      options_(std::move(options)),
      precision_(job.train()),
      balancer_(job, *options_.reporter, options_.world != nullptr) {
  progress_.recipe = job_.config.to_toml();
  progress_.job_hash = job_.hash;
  progress_.metric = job_.eval().metric;
  progress_.planned = job_.steps;
  plateau_ = optim::make_plateau(job_.config, is_larger_better(progress_.metric));
  if (options_.world == nullptr) {
    open();
    return;
  }
  recovery_.emplace(Recovery::Options{.world = options_.world,
                                      .job = &job_,
                                      .job_state = [this] { return job_state(); },
                                      .advance = [this](const Outcome& o) { advance(o); },
                                      .adopt = [this](const JobState& all) { adopt(all); },
                                      .regroup = [this] { regroup(); }});
}

void Trainer::make_keeper() {
  if (options_.output.empty() || keeper_) return;
  keeper_ = std::make_unique<JobCheckpoints>(
      JobCheckpoints::Options{.folder = options_.output / "checkpoints",
                              .retention = {.keep_last = job_.checkpoint().keep,
                                            .keep_best = job_.checkpoint().is_best_kept ? 1 : 0,
                                            .is_higher_better = is_larger_better(progress_.metric)},
                              .metric = progress_.metric,
                              .group = job_.group,
                              .epoch = static_cast<std::int64_t>(job_.group.epoch()),
                              .workers = workers(),
                              .job = options_.world != nullptr ? options_.world->job_id() : "",
                              .sealing = sealing_of(job_.config),
                              .reporter = options_.reporter,
                              .faults = options_.faults});
}

// If a worker dies during this, all ranks call it again.
void Trainer::open() {
  const Liveness::LongPhase reading(liveness());
  keeper_.reset();
  make_keeper();
  const JobIds ids =
      agree_on_job_id(job_.group, options_.is_resumed ? options_.output : std::filesystem::path(),
                      sealing_of(job_.config).reading());
  progress_.job_id = ids.own;
  if (options_.is_resumed) resume();
  if (progress_.job_id.empty()) progress_.job_id = ids.fresh;
  if (keeper_ && job_.group.rank() == 0) write_job_id(options_.output, progress_.job_id);
  const bool has_steps = progress_.step == 0 || progress_.step < job_.steps;
  if (has_steps && options_.keep_recipe && job_.group.rank() == 0) options_.keep_recipe();
  is_open_ = true;
}

Ending Trainer::run() {
  bool is_met = options_.world == nullptr;
  bool is_hurt = false;
  while (true) {
    try {
      if (std::exchange(is_hurt, false)) survive();
      if (!is_met) {
        is_met = true;
        const Liveness::LongPhase beginning(liveness());
        tell(recovery_->begin());
        // With this worker the job may still have too few workers, and all of them wait.
        wait_for_workers();
      }
      if (!is_open_) open();
      options_.reporter->begin(job_, progress_);
      return finish(train());
    } catch (const Error& error) {
      const bool is_loss = Recovery::is_loss(error);
      if (is_loss && is_over()) return Ending::Done;
      if (options_.world != nullptr && options_.world->is_dismissed()) {
        // The other workers continue without this one, so its collectives would never end.
        job_.group.abort(Error(ErrorCode::Aborted, "this worker was dismissed"));
        return Ending::Dismissed;
      }
      if (options_.world == nullptr || !is_loss) throw;
      is_hurt = true;
    }
  }
}

// Trains from the current step to the last one, and repeats a step that a failure interrupted.
Ending Trainer::train() {
  while (true) {
    if (!has_patience()) return Ending::NoBetter;
    const Ending ending = attend();
    if (ending != Ending::Done || progress_.step >= job_.steps) return ending;
    balancer_.begin_step();
    if (options_.before_step) options_.before_step(progress_.step);
    const bool is_change_wanted = options_.world != nullptr && options_.world->is_change_wanted();
    job_.step->parts().config.precision = precision_.at(progress_.precision, progress_.step);
    const Outcome outcome = job_.step->run({.step = progress_.step,
                                            .updates = progress_.updates,
                                            .is_stop_wanted = is_stop_wanted().load(),
                                            .is_change_wanted = is_change_wanted,
                                            .can_leave_out = progress_.step + 1 < job_.steps,
                                            .is_repeated = is_repeated_,
                                            .kept_assignment = kept_assignment_});
    balancer_.end_step(outcome);
    advance(outcome);
    if (liveness() != nullptr) {
      const std::chrono::duration<double> length(outcome.times.total());
      liveness()->end_step(std::chrono::duration_cast<Duration>(length));
    }
  }
}

// Does everything that follows a step (checks, evaluation, checkpoint), once per step.
Ending Trainer::attend() {
  if (attended_at_ == progress_.step) return Ending::Done;
  // If a worker dies during this, the survivors do it again.
  if (broken_loss_) on_not_finite(*broken_loss_);
  broken_loss_.reset();
  compare_ranks();
  balancer_.look(progress_.step);
  if (keeper_) keeper_->look();
  // The process that asked the job to stop may not wait for an evaluation.
  if (is_stopping_) return Ending::Stopped;
  if (is_due(job_.eval().every)) {
    if (!evaluate()) return Ending::Stopped;
    if (!has_patience()) return Ending::NoBetter;
  }
  // The last step is saved by finish(), with its score.
  if (progress_.step < job_.steps && is_save_due()) save();
  attended_at_ = progress_.step;
  if (is_change_wanted_ && progress_.step < job_.steps) {
    is_change_wanted_ = false;
    // A worker was lost before all ranks were ready for the change; the next step asks again.
    if (const std::optional<Error> error = job_.group.error()) throw *error;
    tell(recovery_->change());
    wait_for_workers();
    // If some rank had not completed this function, all ranks do it again.
    return attend();
  }
  return Ending::Done;
}

Ending Trainer::finish(Ending ending) {
  const Liveness::LongPhase writing(liveness());
  if (ending != Ending::Stopped) {
    job_.gradient_sync().model().join();
    if (!evaluate()) ending = Ending::Stopped;
  }
  save();
  if (keeper_) keeper_->finish();
  if (options_.world != nullptr) {
    is_ending_ = true;
    meet_after_files("the last checkpoint");
  }
  // From here on no rank depends on another one.
  is_finished_ = true;
  count_time();
  options_.reporter->end(progress_, ending);
  if (options_.world != nullptr) {
    if (job_.group.rank() == 0) options_.world->announce_end();
    job_.group.barrier({.label = "the end"}).wait();
  }
  return ending;
}

// Whether all ranks have saved everything, as this rank knows or as rank 0 has announced.
bool Trainer::is_over() const {
  return is_finished_ || (is_ending_ && options_.world->is_end_announced());
}

Liveness* Trainer::liveness() const {
  return options_.world != nullptr ? options_.world->liveness() : nullptr;
}

const std::atomic<bool>& Trainer::is_stop_wanted() const {
  return options_.is_stop_wanted != nullptr ? *options_.is_stop_wanted : never_;
}

void Trainer::compare_ranks() {
  const auto& sync = job_.config.get<parallel::SyncConfig>(parallel::kSyncSection);
  if (sync.check_every > 0 && progress_.step % sync.check_every == 0)
    job_.gradient_sync().model().check();
}

// Whether the step is a multiple of `every`; 0 stands for the steps of an epoch.
bool Trainer::is_due(std::int64_t every) const {
  return progress_.step % (every > 0 ? every : job_.steps_an_epoch) == 0;
}

bool Trainer::is_save_due() const {
  const CheckpointConfig& config = job_.checkpoint();
  const bool is_best = score_ && progress_.best_step == progress_.step;
  const std::int64_t unsaved = progress_.step - std::max<std::int64_t>(saved_at_, 0);
  return is_due(config.every) || (config.is_best_kept && is_best) ||
         (config.every == 0 && unsaved >= kStepsUnsavedMax);
}

void Trainer::advance(const Outcome& outcome) {
  // Without a sample there is no loss to follow.
  if (!outcome.is_empty) follow_precision(outcome);
  count_time();
  ++progress_.step;
  if (outcome.is_finite && !outcome.is_empty) ++progress_.updates;
  progress_.samples += outcome.samples;
  progress_.position = job_.loader().position();
  progress_.returned = job_.step->work().returned();
  const optim::LossScale::State& scale = job_.step->loss_scale().state();
  progress_.loss_scale = scale.scale;
  progress_.loss_scale_good_steps = scale.good_steps;
  if (outcome.is_finite) not_finite_ = 0;
  // A step after which training falls back to float32 needs no other reaction: it made no update.
  if (!outcome.is_finite && fell_back_at_ != progress_.step) {
    ++not_finite_;
    broken_loss_ = outcome.loss;
  }
  score_.reset();
  is_stopping_ = outcome.is_stop_wanted;
  is_change_wanted_ = outcome.is_change_wanted;
  // The assignment of a repeated step holds for that step only.
  if (std::exchange(is_repeated_, false)) job_.assign(job_.fair_owners());
  for (const int rank : outcome.left_out) {
    options_.reporter->event({{"event", "left out"}, {"step", progress_.step}, {"rank", rank}});
  }
  options_.reporter->step(progress_, outcome);
  if (options_.after_step) options_.after_step(progress_, outcome);
}

// After a step that failed in 16 bits, the next steps run in float32.
void Trainer::follow_precision(const Outcome& outcome) {
  const std::int64_t before = progress_.precision.float32_until;
  progress_.precision =
      precision_.after(progress_.precision, progress_.step, outcome.loss, outcome.is_finite);
  if (progress_.precision.float32_until == before) return;
  fell_back_at_ = progress_.step + 1;
  options_.reporter->event({{"event", "back to float32"},
                            {"step", progress_.step + 1},
                            {"loss", outcome.loss},
                            {"until", progress_.precision.float32_until}});
}

void Trainer::on_not_finite(double loss) {
  const TrainConfig& config = job_.train();
  if (is_overflow(loss)) {
    options_.reporter->event({{"event", "skipped"},
                              {"step", progress_.step},
                              {"why", "gradients overflowed float16"},
                              {"loss_scale", progress_.loss_scale}});
    return;
  }
  job_.gradient_sync().model().settle();
  // A loss that is not finite makes every gradient so: these would only hide where it began.
  std::string where = job_.gradient_sync().model().first_not_finite(std::isfinite(loss));
  if (where.empty()) where = job_.step->executor().first_block_not_finite();
  const std::string what =
      "step " + std::to_string(progress_.step) + ": the " +
      (std::isfinite(loss) ? "gradient" : "loss") + " is not finite" +
      (where.empty() ? std::string(", although all weights and outputs of blocks are")
                     : "; first in " + where);
  if (config.non_finite == NonFinite::Stop || not_finite_ > config.non_finite_max) {
    throw Error(ErrorCode::Diverged, what + ". " + advice());
  }
  const bool is_rolled_back = config.non_finite == NonFinite::Rollback && roll_back();
  options_.reporter->event({{"event", is_rolled_back ? "rolled back" : "skipped"},
                            {"step", progress_.step},
                            {"why", what}});
}

// Occasional overflows are normal in float16, and the loss scale has already been reduced.
// Gradients that overflow repeatedly, or at the smallest scale, are not finite at any scale.
bool Trainer::is_overflow(double loss) const {
  return job_.step->parts().config.precision == Precision::Float16 && std::isfinite(loss) &&
         !job_.step->loss_scale().is_least() && not_finite_ <= job_.train().non_finite_max;
}

// Restores the weights of the last checkpoint, and continues with the samples after those whose
// loss was not finite.
bool Trainer::roll_back() {
  const Liveness::LongPhase reading(liveness());
  const auto from = keeper_ ? keeper_->newest() : std::nullopt;
  if (!from) return false;
  const Progress here = progress_;
  try {
    restore(*from);
  } catch (...) {
    progress_ = here;  // if a worker died, all survivors must agree on the step
    throw;
  }
  progress_.step = here.step;
  progress_.position = here.position;
  progress_.returned = here.returned;
  job_.step->work().set_returned(here.returned);
  progress_.samples = here.samples;
  // A fallback to float32 that was active before the rollback continues.
  auto& until = progress_.precision.float32_until;
  until = std::max(until, here.precision.float32_until);
  progress_.precision.seen = 0;
  job_.loader().seek(here.position);
  return true;
}

// False if the evaluation was given up because the job has to stop.
bool Trainer::evaluate() {
  if (!job_.sets.test || evaluated_at_ == progress_.step) return true;
  const Liveness::LongPhase evaluating(liveness());
  // The first evaluation may fail for new reasons, such as its data or memory. A checkpoint before
  // it preserves the training so far.
  if (evaluated_at_ < 0) save();
  auto scores = scores_of_weights();
  if (!scores) return false;
  evaluated_at_ = progress_.step;
  scores_ = std::move(scores);
  compare_with_best();
  follow_plateau();
  options_.reporter->evaluated(progress_, *scores_);
  return true;
}

// Evaluates the averaged weights, if the job has them. Elastic jobs evaluate the weights
// themselves: a worker that died while averages replace the weights would take the weights with it.
std::optional<Scores> Trainer::scores_of_weights() {
  std::optional<AveragedWeights> average;
  if (optim::has_average(job_.config) && options_.world == nullptr) {
    average.emplace(job_.gradient_sync());
  } else {
    job_.gradient_sync().model().settle();
  }
  auto scores = evaluate_unless(*job_.model,
                                {.source = job_.sets.test,
                                 .loss = job_.loss.get(),
                                 .batch = job_.eval().batch,
                                 .threads = job_.config.get<data::DataConfig>("data").threads,
                                 .precision = job_.train().precision,
                                 .is_ranked = progress_.metric == "roc_auc",
                                 .group = job_.group},
                                is_stop_wanted());
  if (average) average->put_back();
  return scores;
}

// The evaluation at the end of a job does not count unless it is due: a job that is resumed with
// more steps would otherwise have one evaluation more than an uninterrupted job.
void Trainer::follow_plateau() {
  if (!plateau_ || !is_due(job_.eval().every)) return;
  progress_.plateau = plateau_->after(progress_.plateau, *score_);
  job_.step->parts().rate_factor = progress_.plateau.factor;
}

void Trainer::compare_with_best() {
  score_ = scores_->value_of(progress_.metric);
  if (is_better(*score_, progress_.best, progress_.metric)) {
    progress_.best = *score_;
    progress_.best_step = progress_.step;
    progress_.evaluations_since_best = 0;
  } else {
    ++progress_.evaluations_since_best;
  }
}

bool Trainer::has_patience() const {
  const int patience = job_.eval().patience;
  return patience == 0 || progress_.evaluations_since_best < patience;
}

// A gradient can be not finite although the loss is finite. With non_finite = "stop" gradients are
// not checked, so every rank checks the weights that it saves before they replace good ones.
void Trainer::refuse_broken_weights(const std::vector<checkpoint::Piece>& saved) {
  if (job_.train().non_finite != NonFinite::Stop) return;
  const auto parameters = job_.model->named_parameters();
  std::map<std::string, std::int64_t> index;
  for (const auto& parameter : parameters) {
    index.emplace(parameter.key(), static_cast<std::int64_t>(index.size()));
  }
  std::int64_t broken = static_cast<std::int64_t>(index.size());
  for (const checkpoint::Piece& piece : saved) {
    const auto found = index.find(piece.name);
    if (found == index.end() || found->second >= broken) continue;
    if (!std::isfinite(optim::squared_norm(piece.data))) broken = found->second;
  }
  job_.group
      .all_reduce({&broken, 1, comm::DType::Int64}, comm::ReduceOp::Min,
                  {.label = "finite weights"})
      .wait();
  if (broken == static_cast<std::int64_t>(index.size())) return;
  throw Error(ErrorCode::Diverged, "step " + std::to_string(progress_.step) + ": " +
                                       parameters[static_cast<std::size_t>(broken)].key() +
                                       " is not finite and was not saved. " + advice());
}

// A collective. The event tells the program that started the job where to continue.
std::string Trainer::advice() {
  Divergence divergence{.first_step = progress_.step - std::max(not_finite_, 1) + 1};
  if (keeper_) {
    divergence.newest = keeper_->newest_step(progress_.step);
    divergence.helpful = keeper_->newest_step(Divergence::last_helpful(divergence.first_step));
  }
  options_.reporter->event({{"event", "diverged"},
                            {"step", progress_.step},
                            {"continue_from", divergence.helpful.value_or(-1)}});
  return divergence.advice(job_.config);
}

// Of replicas that differ, the first is saved as the model. Rank 0 also saves the tensors that are
// not trained.
std::vector<checkpoint::Piece> Trainer::pieces_to_save() {
  const bool is_first = job_.group.rank() == 0;
  std::vector<checkpoint::Piece> held = job_.gradient_sync().saved().pieces();
  if (job_.gradient_sync().saved().are_pieces_spare()) held.clear();
  const std::optional<parallel::Holders> holders = job_.gradient_sync().saved().holders();
  if (!holders || holders->is_first) {
    held = saved_pieces(held, holders ? holders->ranks : job_.group);
  } else {
    held.clear();
  }
  checkpoint::State state{.pieces = std::move(held)};
  for (checkpoint::Piece& own : job_.gradient_sync().saved().own_pieces()) {
    state.pieces.push_back(std::move(own));
  }
  if (is_first) {
    for (const auto& [name, tensor] : untrained_of(*job_.model)) state.add(name, tensor);
  }
  return std::move(state.pieces);
}

void Trainer::save() {
  const bool is_saved = saved_at_ == progress_.step && (is_score_saved_ || !score_);
  if (!keeper_ || is_saved) return;
  const Liveness::LongPhase writing(liveness());
  saved_at_ = progress_.step;
  is_score_saved_ = score_.has_value();
  if (data_json_.empty()) data_json_ = job_.sets.preprocessing.to_json();
  checkpoint::State state{.pieces = pieces_to_save(), .meta = meta_of(progress_, data_json_)};
  refuse_broken_weights(state.pieces);
  keeper_->save(state, progress_.step, score_);
}

void Trainer::resume() {
  const auto from = keeper_->newest();
  if (!from) {
    options_.reporter->warn(
        "no checkpoint in " + keeper_->folder().string() + ": beginning at step 0",
        {{"event", "nothing to resume"}});
    return;
  }
  expect_checkpoint_of(progress_.job_id, options_.output, *from);
  if (const std::string note = from->note_if_unsigned(); !note.empty()) {
    options_.reporter->warn(note, {{"event", "unsigned checkpoint"}, {"step", from->step()}});
  }
  const std::string changed =
      accept_changes(from->path(), progress_in(*from), job_.config, options_.allowed_changes);
  tell_of_steps(restore(*from));
  const std::string missing = skip_missing_samples(progress_, job_.sets.train->count());
  job_.step->work().set_returned(progress_.returned);
  if (!missing.empty()) {
    options_.reporter->warn(missing, {{"event", "samples missing"}, {"step", progress_.step}});
  }
  if (!changed.empty()) {
    options_.reporter->warn("settings changed: " + changed,
                            {{"event", "settings changed"}, {"what", changed}});
  }
  keeper_->remove_after(progress_.step);
  saved_at_ = attended_at_ = progress_.step;
  // A checkpoint with a score was evaluated before it was saved, and is not evaluated again.
  is_score_saved_ = from->score().has_value() && progress_.best_step >= 0;
  if (is_score_saved_) evaluated_at_ = progress_.step;
  job_.loader().seek(progress_.position);
}

// Tells the user the consequences of a changed number of steps.
void Trainer::tell_of_steps(std::int64_t planned) {
  if (progress_.step >= job_.steps) {
    options_.reporter->warn("the job has made " + std::to_string(progress_.step) +
                                " steps, and train.steps or train.epochs asks for " +
                                std::to_string(job_.steps) +
                                ": nothing is left to train. Set a larger number to continue",
                            {{"event", "nothing left"}, {"step", progress_.step}});
    return;
  }
  if (planned == 0) return;
  const double before = optim::make_schedule(job_.config, planned).rate(progress_.updates);
  const double now = job_.step->parts().schedule.rate(progress_.updates);
  if (before == now) return;
  options_.reporter->warn("the job had " + std::to_string(planned) + " steps and has " +
                              std::to_string(job_.steps) +
                              " now: its learning rate follows the new number from here on",
                          {{"event", "steps changed"}, {"rate_before", before}, {"rate", now}});
}

// Ranks read and write files at different speeds: those that are done wait for the others here, and
// not in the next collective, whose timeout is shorter.
void Trainer::meet_after_files(const char* label) {
  const Deadline deadline = Deadline::after(job_.group.timeouts().files());
  job_.group.barrier({.label = label, .deadline = deadline}).wait();
}

// Returns how many steps the job was to have when it was saved.
std::int64_t Trainer::restore(const checkpoint::Checkpoint& from) {
  const Liveness::LongPhase reading(liveness());
  expect_checkpoint_of(progress_.job_id, options_.output, from);
  Progress saved = progress_in(from);
  accept_changes(from.path(), saved, job_.config, options_.allowed_changes);
  refuse_other_data(from, job_.sets.preprocessing);
  if (!saved.metric.empty() && saved.metric != progress_.metric) saved.forget_best();
  saved.metric = progress_.metric;
  if (saved.job_id.empty()) saved.job_id = progress_.job_id;
  const std::int64_t planned = saved.planned;
  if (saved.step < job_.steps) {
    saved.recipe = progress_.recipe;
    saved.job_hash = job_.hash;
    saved.planned = job_.steps;
  }
  progress_ = std::move(saved);
  watch_ = {};
  job_.step->parts().rate_factor = progress_.plateau.factor;
  job_.step->work().set_returned(progress_.returned);
  job_.gradient_sync().saved().seek(progress_.step);
  for (const checkpoint::Piece& piece : job_.gradient_sync().saved().pieces()) {
    from.read_into(piece);
  }
  meet_after_files("checkpoint read");
  job_.gradient_sync().saved().restored();
  for (const auto& [name, tensor] : untrained_of(*job_.model)) from.read_into(name, tensor);
  // This comes last, because the values of this replica replace those of the first one.
  job_.gradient_sync().saved().restore_own(from);
  meet_after_files("checkpoint read");
  if (progress_.loss_scale > 0) {
    job_.step->loss_scale().restore(
        {.scale = progress_.loss_scale, .good_steps = progress_.loss_scale_good_steps});
  }
  return planned;
}

}  // namespace trireme::train
