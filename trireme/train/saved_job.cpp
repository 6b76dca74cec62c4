#include "trireme/train/saved_job.h"

#include <map>
#include <utility>

#include "trireme/base/error.h"
#include "trireme/base/file/file.h"
#include "trireme/base/liveness.h"
#include "trireme/optim/kinds.h"
#include "trireme/train/evaluate/scores.h"
#include "trireme/train/recipe/job_id.h"
#include "trireme/train/report/checkpoint_meta.h"
#include "trireme/train/resumption.h"
#include "trireme/train/saved_pieces.h"

namespace trireme::train {
namespace {

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

void SavedJob::connect() {
  if (parts_.folder.empty() || checkpoints_) return;
  const Job& job = *parts_.job;
  const std::string& metric = parts_.state->progress.metric;
  checkpoints_ = std::make_unique<JobCheckpoints>(
      JobCheckpoints::Options{.folder = parts_.folder / "checkpoints",
                              .retention = {.keep_last = job.checkpoint().keep,
                                            .keep_best = job.checkpoint().is_best_kept ? 1 : 0,
                                            .is_higher_better = is_larger_better(metric)},
                              .metric = metric,
                              .group = job.group,
                              .workers = job.workers,
                              .job = job.launch_id,
                              .sealing = sealing_of(job.config),
                              .reporter = parts_.reporter,
                              .faults = parts_.faults});
}

void SavedJob::open(bool is_resumed) {
  const Liveness::LongPhase reading(parts_.job->liveness.get());
  checkpoints_.reset();
  connect();
  const comm::Group& group = parts_.job->group;
  Progress& progress = parts_.state->progress;
  const JobIds ids = agree_on_job_id(group, is_resumed ? parts_.folder : std::filesystem::path(),
                                     sealing_of(parts_.job->config).reading());
  progress.job_id = ids.own;
  if (is_resumed) resume();
  if (progress.job_id.empty()) progress.job_id = ids.fresh;
  if (checkpoints_ && group.rank() == 0) {
    sweep_temporary_files(parts_.folder);
    write_job_id(parts_.folder, progress.job_id);
  }
}

void SavedJob::regroup() {
  if (checkpoints_) {
    checkpoints_->regroup(parts_.job->group, parts_.job->workers);
  } else {
    connect();
  }
}

void SavedJob::resume() {
  const auto from = checkpoints_->newest();
  if (!from) {
    warn("no checkpoint in " + checkpoints_->folder().string() + ": beginning at step 0",
         {{"event", "nothing to resume"}});
    return;
  }
  Job& job = *parts_.job;
  JobState& state = *parts_.state;
  expect_checkpoint_of(state.progress.job_id, parts_.folder, *from);
  warn(from->note_if_unsigned(), {{"event", "unsigned checkpoint"}, {"step", from->step()}});
  const std::string changed =
      accept_changes(from->path(), progress_in(*from), job.config, parts_.allowed_changes);
  tell_of_steps(restore(*from));
  const std::string missing = skip_missing_samples(state.progress, job.sets.train->count());
  job.step->work().set_returned(state.progress.returned);
  warn(missing, {{"event", "samples missing"}, {"step", state.progress.step}});
  if (!changed.empty()) {
    warn("settings changed: " + changed, {{"event", "settings changed"}, {"what", changed}});
  }
  checkpoints_->remove_after(state.progress.step);
  state.saved_at = state.attended_at = state.progress.step;
  // A checkpoint with a score was evaluated before it was saved, and is not evaluated again.
  state.is_score_saved = from->score().has_value() && state.progress.best_step >= 0;
  if (state.is_score_saved) state.evaluated_at = state.progress.step;
  job.loader().seek(state.progress.position);
}

void SavedJob::warn(const std::string& text, const Record& what) const {
  if (!text.empty()) parts_.reporter->warn(text, what);
}

// Tells the user the consequences of a changed number of steps.
void SavedJob::tell_of_steps(std::int64_t planned) {
  const Job& job = *parts_.job;
  const Progress& progress = parts_.state->progress;
  if (progress.step >= job.steps) {
    warn("the job has made " + std::to_string(progress.step) +
             " steps, and train.steps or train.epochs asks for " + std::to_string(job.steps) +
             ": nothing is left to train. Set a larger number to continue",
         {{"event", "nothing left"}, {"step", progress.step}});
    return;
  }
  if (planned == 0) return;
  const double before = optim::make_schedule(job.config, planned).rate(progress.updates);
  const double now = job.step->parts().schedule.rate(progress.updates);
  if (before == now) return;
  warn("the job had " + std::to_string(planned) + " steps and has " + std::to_string(job.steps) +
           " now: its learning rate follows the new number from here on",
       {{"event", "steps changed"}, {"learning_rate_before", before}, {"learning_rate", now}});
}

std::int64_t SavedJob::restore(const checkpoint::Checkpoint& from) {
  const Liveness::LongPhase reading(parts_.job->liveness.get());
  Job& job = *parts_.job;
  Progress saved = progress_of(from);
  const std::int64_t planned = saved.planned;
  if (saved.step < job.steps) {
    saved.recipe = parts_.state->progress.recipe;
    saved.job_hash = job.hash;
    saved.planned = job.steps;
  }
  parts_.state->progress = std::move(saved);
  *parts_.watch = {};
  const Progress& progress = parts_.state->progress;
  job.step->work().set_returned(progress.returned);
  read_tensors(from);
  job.follow(progress);
  return planned;
}

// Throws if this job cannot continue from the checkpoint.
Progress SavedJob::progress_of(const checkpoint::Checkpoint& from) const {
  const Progress& progress = parts_.state->progress;
  expect_checkpoint_of(progress.job_id, parts_.folder, from);
  Progress saved = progress_in(from);
  accept_changes(from.path(), saved, parts_.job->config, parts_.allowed_changes);
  refuse_other_data(from, parts_.job->sets.preprocessing);
  if (!saved.metric.empty() && saved.metric != progress.metric) saved.forget_best();
  saved.metric = progress.metric;
  if (saved.job_id.empty()) saved.job_id = progress.job_id;
  return saved;
}

void SavedJob::read_tensors(const checkpoint::Checkpoint& from) {
  parallel::SavedState& saved = parts_.job->gradient_sync().saved();
  saved.seek(parts_.state->progress.step);
  for (const checkpoint::Piece& piece : saved.pieces()) from.read_into(piece);
  meet_after_files("checkpoint read");
  saved.restored();
  for (const auto& [name, tensor] : untrained_of(*parts_.job->model)) from.read_into(name, tensor);
  // This comes last, because the values of this replica replace those of the first one.
  saved.restore_own(from);
  meet_after_files("checkpoint read");
}

void SavedJob::save() {
  JobState& state = *parts_.state;
  const std::int64_t step = state.progress.step;
  const bool is_saved = state.saved_at == step && (state.is_score_saved || !state.score);
  if (!checkpoints_ || is_saved) return;
  const Liveness::LongPhase writing(parts_.job->liveness.get());
  state.saved_at = step;
  state.is_score_saved = state.score.has_value();
  if (data_json_.empty()) data_json_ = parts_.job->sets.preprocessing.to_json();
  checkpoint::State saved{.pieces = pieces_to_save(), .meta = meta_of(state.progress, data_json_)};
  parts_.check(saved.pieces);
  checkpoints_->save(saved, step, state.score);
}

// Of replicas that differ, the first is saved as the model. Its first rank, or the first of each
// stage, also saves the tensors that are not trained.
std::vector<checkpoint::Piece> SavedJob::pieces_to_save() {
  const Job& job = *parts_.job;
  parallel::SavedState& saved = job.gradient_sync().saved();
  std::vector<checkpoint::Piece> held = saved.pieces();
  if (saved.are_pieces_spare()) held.clear();
  const std::optional<parallel::Holders> holders = saved.holders();
  if (!holders || holders->is_first) {
    held =
        saved_pieces(std::move(held), holders ? holders->ranks : job.group, job.is_first_holder());
  } else {
    held.clear();
  }
  checkpoint::State state{.pieces = std::move(held)};
  for (checkpoint::Piece& own : saved.own_pieces()) state.pieces.push_back(std::move(own));
  if (job.replica() == 0 && job.is_first_holder()) {
    for (const auto& [name, tensor] : untrained_of(*job.model)) state.add(name, tensor);
  }
  return std::move(state.pieces);
}

void SavedJob::meet_after_files(const char* label) {
  const comm::Group& group = parts_.job->group;
  const Deadline deadline = Deadline::after(group.timeouts().files());
  group.barrier({.label = label, .deadline = deadline}).wait();
}

}  // namespace trireme::train
