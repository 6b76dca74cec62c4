#include "trireme/train/trainer.h"

#include <cmath>
#include <utility>

#include "trireme/base/error.h"
#include "trireme/data/data_config.h"
#include "trireme/optim/clip.h"
#include "trireme/parallel/kinds.h"
#include "trireme/train/evaluation.h"

namespace trireme::train {
namespace {

constexpr auto kSaveMax = std::chrono::minutes(30);

bool is_better(double score, double best, const std::string& metric) {
  if (std::isnan(best)) return !std::isnan(score);
  return is_larger_better(metric) ? score > best : score < best;
}

}  // namespace

Trainer::Trainer(Job& job, Options options) : job_(job), options_(std::move(options)) {
  progress_.recipe = job_.config.to_toml();
  progress_.job_hash = job_.hash;
  if (options_.output.empty()) return;
  if (job_.group.rank() == 0) make_saver();
  if (options_.is_resumed) resume();
}

void Trainer::make_saver() {
  saver_ = std::make_unique<checkpoint::Saver>(checkpoint::Saver::Options{
      .folder = options_.output / "checkpoints",
      .retention = {.keep_last = job_.checkpoint().keep,
                    .keep_best = job_.checkpoint().is_best_kept ? 1 : 0,
                    .is_higher_better = is_larger_better(job_.eval().metric)},
      .faults = options_.faults});
}

Ending Trainer::run() {
  options_.reporter->begin(job_, progress_);
  Ending ending = has_patience() ? Ending::Done : Ending::NoBetter;
  while (ending == Ending::Done && progress_.step < job_.steps) {
    const bool is_asked = options_.is_stop_wanted != nullptr && options_.is_stop_wanted->load();
    const Outcome outcome = job_.step->run(progress_.updates, is_asked);
    advance(outcome);
    if (!outcome.is_finite) on_not_finite(outcome);
    compare_ranks();
    options_.reporter->step(progress_, outcome);
    if (is_due(job_.eval().every)) evaluate();
    // The last one is saved below, with its score.
    if (is_due(job_.checkpoint().every) && progress_.step < job_.steps) save(false);
    if (outcome.is_stop_wanted) {
      ending = Ending::Stopped;
    } else if (!has_patience()) {
      ending = Ending::NoBetter;
    }
  }
  if (ending != Ending::Stopped) {
    job_.agreement().join();
    evaluate();
  }
  save(true);
  options_.reporter->end(progress_, ending);
  return ending;
}

void Trainer::compare_ranks() {
  const auto& sync = job_.config.get<parallel::SyncConfig>(parallel::kSyncSection);
  if (sync.check_every > 0 && progress_.step % sync.check_every == 0) job_.agreement().check();
}

// Every so many steps, or at the end of each epoch.
bool Trainer::is_due(std::int64_t every) const {
  return progress_.step % (every > 0 ? every : job_.steps_an_epoch) == 0;
}

void Trainer::advance(const Outcome& outcome) {
  ++progress_.step;
  if (outcome.is_finite) ++progress_.updates;
  progress_.samples += outcome.samples;
  progress_.position = job_.loader().position();
  const optim::LossScale::State& scale = job_.step->loss_scale().state();
  progress_.loss_scale = scale.scale;
  progress_.loss_scale_good_steps = scale.good_steps;
  if (outcome.is_finite) not_finite_ = 0;
  score_.reset();
}

void Trainer::on_not_finite(const Outcome& outcome) {
  const TrainConfig& config = job_.train();
  // Float16 overflows now and then by design: the scale has already answered.
  if (config.precision == Precision::Float16 && std::isfinite(outcome.loss)) return;
  ++not_finite_;
  job_.agreement().settle();
  std::string where = job_.agreement().first_not_finite();
  if (where.empty()) where = job_.step->first_block_not_finite();
  const std::string what =
      "step " + std::to_string(progress_.step) + ": the " +
      (std::isfinite(outcome.loss) ? "gradient" : "loss") + " is not finite" +
      (where.empty() ? std::string(", though all weights and blocks are") : "; first in " + where);
  if (config.non_finite == NonFinite::Stop || not_finite_ > config.non_finite_max) {
    throw Error(ErrorCode::Diverged,
                what +
                    ". Try a lower optim.learning_rate, optim.clip_norm=1, or "
                    "train.non_finite=skip; --resume goes on from the last checkpoint");
  }
  options_.reporter->event(
      {{"event", config.non_finite == NonFinite::Skip ? "skipped" : "rolled back"},
       {"step", progress_.step},
       {"why", what}});
  if (config.non_finite == NonFinite::Skip || options_.output.empty()) return;
  // Back to the weights of the last checkpoint, on to the samples after those that did it.
  const Progress here = progress_;
  if (const auto from = newest()) restore(*from);
  progress_.step = here.step;
  progress_.position = here.position;
  progress_.samples = here.samples;
  job_.loader().seek(here.position);
}

void Trainer::evaluate() {
  if (!job_.sets.test || evaluated_at_ == progress_.step) return;
  evaluated_at_ = progress_.step;
  job_.agreement().settle();
  scores_ =
      train::evaluate(*job_.model, {.source = job_.sets.test,
                                    .loss = job_.loss.get(),
                                    .batch = job_.eval().batch,
                                    .threads = job_.config.get<data::DataConfig>("data").threads,
                                    .precision = job_.train().precision,
                                    .group = job_.group});
  score_ = scores_->value_of(job_.eval().metric);
  if (is_better(*score_, progress_.best, job_.eval().metric)) {
    progress_.best = *score_;
    progress_.best_step = progress_.step;
    progress_.evaluations_since_best = 0;
  } else {
    ++progress_.evaluations_since_best;
  }
  options_.reporter->evaluated(progress_, *scores_);
}

bool Trainer::has_patience() const {
  const int patience = job_.eval().patience;
  return patience == 0 || progress_.evaluations_since_best < patience;
}

// A gradient can be not finite where the loss is. Nobody looks at each of them where the recipe
// says to stop, so the weights are looked at before they take the place of good ones.
void Trainer::refuse_broken_weights() {
  if (job_.train().non_finite != NonFinite::Stop) return;
  job_.agreement().settle();
  for (const auto& parameter : job_.model->named_parameters()) {
    if (std::isfinite(optim::squared_norm(parameter.value().detach()))) continue;
    throw Error(ErrorCode::Diverged,
                "step " + std::to_string(progress_.step) + ": " + parameter.key() +
                    " is not finite, and was not saved. Try a lower optim.learning_rate or "
                    "train.non_finite=skip; --resume goes on from the last checkpoint");
  }
}

void Trainer::save(bool is_waited) {
  if (options_.output.empty()) return;
  if (saved_at_ != progress_.step) {
    saved_at_ = progress_.step;
    refuse_broken_weights();
    checkpoint::State state{.pieces = job_.agreement().collect(), .meta = progress_.to_json()};
    if (saver_) {
      for (const auto& buffer : job_.model->named_buffers()) {
        state.add(buffer.key(), buffer.value().detach());
      }
      saver_->save(state, progress_.step, score_);
      options_.reporter->saved(progress_, saver_->figures());
    }
    // Nobody changes what is being copied.
    job_.group.barrier({.label = "checkpoint copied"}).wait();
  }
  if (is_waited && saver_) saver_->wait(Deadline::after(kSaveMax));
}

// The first rank looks for the newest whole checkpoint; all of them read it.
std::optional<checkpoint::Checkpoint> Trainer::newest() {
  std::int64_t step = -1;
  if (saver_) {
    saver_->wait(Deadline::after(kSaveMax));
    const auto found = checkpoint::Checkpoint::newest_whole(checkpoints());
    for (const auto& skipped : found.skipped) {
      options_.reporter->event({{"event", "checkpoint passed over"},
                                {"path", skipped.path.string()},
                                {"why", skipped.reason}});
    }
    if (found.checkpoint) step = found.checkpoint->step();
  }
  job_.group.broadcast({&step, 1, comm::DType::Int64}, 0, {.label = "checkpoint to read"}).wait();
  if (step < 0) return std::nullopt;
  return checkpoint::Checkpoint::open(checkpoints() / checkpoint::format::folder_name(step));
}

void Trainer::resume() {
  const auto from = newest();
  if (!from) return;
  restore(*from);
  if (saver_) saver_->remove_after(progress_.step);
  saved_at_ = progress_.step;
  job_.loader().seek(progress_.position);
}

void Trainer::restore(const checkpoint::Checkpoint& from) {
  Progress saved = Progress::from_json(from.meta());
  if (saved.job_hash != job_.hash) {
    throw Error(ErrorCode::InvalidInput,
                from.path().string() +
                    " was written by another recipe; give its settings, or "
                    "another --output");
  }
  saved.recipe = progress_.recipe;
  progress_ = std::move(saved);
  for (checkpoint::Piece& piece : job_.agreement().pieces()) {
    from.read(piece.name, piece.begin, piece.data.numel(), piece.data);
  }
  job_.agreement().restored();
  for (const auto& buffer : job_.model->named_buffers()) {
    from.read_into(buffer.key(), buffer.value().detach());
  }
  if (progress_.loss_scale > 0) {
    job_.step->loss_scale().restore(
        {.scale = progress_.loss_scale, .good_steps = progress_.loss_scale_good_steps});
  }
}

}  // namespace trireme::train
