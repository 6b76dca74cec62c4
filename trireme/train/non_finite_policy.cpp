#include "trireme/train/non_finite_policy.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "trireme/base/error.h"
#include "trireme/optim/clip.h"
#include "trireme/optim/kinds.h"
#include "trireme/optim/optim_config.h"

namespace trireme::train {
namespace {

std::vector<std::string> remedies_in(const config::Config& config) {
  std::vector<std::string> remedies;
  if (const config::Setting* rate = config.setting("optim.lr")) {
    remedies.push_back("a lower optim.lr (it is " + to_plain(rate->value) + ")");
  }
  const double norm = config.get<optim::OptimConfig>(optim::kOptimSection).max_grad_norm;
  remedies.push_back(norm > 0
                         ? "a smaller optim.max_grad_norm (it is " + config::to_plain({norm}) + ")"
                         : "optim.max_grad_norm=1.0 (clipping is off)");
  if (config.get<TrainConfig>("train").non_finite == NonFinite::Stop) {
    remedies.emplace_back("train.non_finite=skip, which leaves such steps out");
  }
  return remedies;
}

std::string beginning_of(const Divergence& divergence) {
  if (!divergence.newest) return "There is no checkpoint. Begin again with ";
  const std::string newest = "checkpoint is of step " + std::to_string(*divergence.newest);
  if (divergence.helpful == divergence.newest) {
    return "The last " + newest + ". Continue from it with ";
  }
  const std::string same = "The last " + newest + " and leads to the same weights in step " +
                           std::to_string(divergence.first_step);
  if (!divergence.helpful) return same + ", and there is no earlier one. Begin a new job with ";
  return same + ". Continue from that of step " + std::to_string(*divergence.helpful) + " with ";
}

}  // namespace

std::string Divergence::advice(const config::Config& config) const {
  std::string text = beginning_of(*this);
  const std::vector<std::string> remedies = remedies_in(config);
  for (std::size_t i = 0; i < remedies.size(); ++i) {
    const bool is_last = i + 1 == remedies.size();
    text += (i == 0 ? "" : is_last ? " or " : ", ") + remedies[i];
  }
  return helpful ? text + ". If the loss had grown long before that checkpoint, begin a new job"
                 : text;
}

Precision NonFinitePolicy::precision() const {
  const Progress& progress = parts_.state->progress;
  return precision_.at(progress.precision, progress.step);
}

void NonFinitePolicy::note(const Outcome& outcome) {
  // Without a sample there is no loss to follow.
  const bool is_repaired = !outcome.is_empty && falls_back(outcome);
  if (outcome.is_finite) parts_.state->not_finite = 0;
  // A step after which training falls back to float32 needs no other reaction: it made no update.
  if (outcome.is_finite || is_repaired) return;
  ++parts_.state->not_finite;
  parts_.state->broken_loss = outcome.loss;
}

// Whether the next steps run in float32 because this one failed in 16 bits.
bool NonFinitePolicy::falls_back(const Outcome& outcome) {
  Progress& progress = parts_.state->progress;
  const std::int64_t before = progress.precision.float32_until;
  progress.precision =
      precision_.after(progress.precision, progress.step, outcome.loss, outcome.is_finite);
  if (progress.precision.float32_until == before) return false;
  parts_.reporter->event({{"event", "back to float32"},
                          {"step", progress.step + 1},
                          {"loss", outcome.loss},
                          {"until", progress.precision.float32_until}});
  return true;
}

void NonFinitePolicy::react() {
  if (parts_.state->broken_loss) react_to(*parts_.state->broken_loss);
  parts_.state->broken_loss.reset();
}

void NonFinitePolicy::react_to(double loss) {
  const TrainConfig& config = parts_.job->train();
  const Progress& progress = parts_.state->progress;
  if (is_overflow(loss)) {
    parts_.reporter->event({{"event", "skipped"},
                            {"step", progress.step},
                            {"why", "gradients overflowed float16"},
                            {"loss_scale", progress.loss_scale}});
    return;
  }
  parts_.job->gradient_sync().model().settle();
  const std::string what = text_of(loss);
  const bool is_too_often = parts_.state->not_finite > config.non_finite_max;
  if (config.non_finite == NonFinite::Stop || is_too_often) {
    throw Error(ErrorCode::Diverged, what + ". " + advice());
  }
  const bool is_rolled_back = config.non_finite == NonFinite::Rollback && roll_back();
  parts_.reporter->event({{"event", is_rolled_back ? "rolled back" : "skipped"},
                          {"step", progress.step},
                          {"why", what}});
}

// Occasional overflows are normal in float16, and the loss scale has already been reduced.
// Gradients that overflow repeatedly, or at the smallest scale, are not finite at any scale.
bool NonFinitePolicy::is_overflow(double loss) const {
  Step& step = *parts_.job->step;
  return step.parts().config.precision == Precision::Float16 && std::isfinite(loss) &&
         !step.loss_scale().is_least() &&
         parts_.state->not_finite <= parts_.job->train().non_finite_max;
}

std::string NonFinitePolicy::text_of(double loss) const {
  // A loss that is not finite makes every gradient so: these would only hide where it began.
  std::string where = parts_.job->gradient_sync().model().first_not_finite(std::isfinite(loss));
  const auto finders = [&] {
    return parts_.job->gradient_sync().commit().total(where.empty() ? 0 : 1);
  };
  bool is_found = finders() > 0;
  // Forward passes may communicate, so all ranks run them or none does.
  if (!is_found) {
    where = parts_.job->step->executor().first_block_not_finite();
    is_found = finders() > 0;
  }
  if (where.empty() && is_found) where = "a part of the model that another rank holds";
  // Blocks of a pipeline are not run again to find out which.
  if (where.empty() && parts_.job->pipeline) where = "the output of a block";
  return "step " + std::to_string(parts_.state->progress.step) + ": the " +
         (std::isfinite(loss) ? "gradient" : "loss") + " is not finite" +
         (where.empty() ? std::string(", although all weights and outputs of blocks are")
                        : "; first in " + where);
}

// Restores the weights of the last checkpoint, and continues with the samples after those whose
// loss was not finite.
bool NonFinitePolicy::roll_back() {
  const Liveness::LongPhase reading(parts_.job->liveness.get());
  JobCheckpoints* const checkpoints = parts_.saved->checkpoints();
  const auto from = checkpoints != nullptr ? checkpoints->newest() : std::nullopt;
  if (!from) return false;
  Progress& progress = parts_.state->progress;
  const Progress here = progress;
  try {
    parts_.saved->restore(*from);
  } catch (...) {
    progress = here;  // if a worker died, all survivors must agree on the step
    throw;
  }
  progress.step = here.step;
  progress.position = here.position;
  progress.returned = here.returned;
  parts_.job->step->work().set_returned(here.returned);
  progress.samples = here.samples;
  // A fallback to float32 that was active before the rollback continues.
  auto& until = progress.precision.float32_until;
  until = std::max(until, here.precision.float32_until);
  progress.precision.seen = 0;
  parts_.job->loader().seek(here.position);
  return true;
}

void NonFinitePolicy::refuse_broken_weights(const std::vector<checkpoint::Piece>& saved) {
  if (parts_.job->train().non_finite != NonFinite::Stop) return;
  const auto parameters = parts_.job->model->named_parameters();
  // Stages of a pipeline have different parameters, which are counted one stage after another.
  const auto first = static_cast<std::int64_t>(parts_.job->flags.begin);
  std::map<std::string, std::int64_t> index;
  for (const auto& parameter : parameters) {
    index.emplace(parameter.key(), first + static_cast<std::int64_t>(index.size()));
  }
  const auto count = static_cast<std::int64_t>(std::max(parts_.job->flags.count, index.size()));
  std::int64_t broken = count;
  for (const checkpoint::Piece& piece : saved) {
    const auto found = index.find(piece.name);
    if (found == index.end() || found->second >= broken) continue;
    if (!std::isfinite(optim::squared_norm(piece.data))) broken = found->second;
  }
  parts_.job->group
      .all_reduce({&broken, 1, comm::DType::Int64}, comm::ReduceOp::Min,
                  {.label = "finite weights"})
      .wait();
  if (broken == count) return;
  const std::int64_t own = broken - first;
  const bool is_own = own >= 0 && own < std::ssize(index);
  throw Error(ErrorCode::Diverged, "step " + std::to_string(parts_.state->progress.step) + ": " +
                                       (is_own ? parameters[static_cast<std::size_t>(own)].key()
                                               : "a weight of another stage of the pipeline") +
                                       " is not finite and was not saved. " + advice());
}

// The event tells the program that started the job where to continue.
std::string NonFinitePolicy::advice() {
  const std::int64_t step = parts_.state->progress.step;
  Divergence divergence{.first_step = step - std::max(parts_.state->not_finite, 1) + 1};
  if (JobCheckpoints* const checkpoints = parts_.saved->checkpoints()) {
    divergence.newest = checkpoints->newest_step(step);
    divergence.helpful = checkpoints->newest_step(Divergence::last_helpful(divergence.first_step));
  }
  parts_.reporter->event(
      {{"event", "diverged"}, {"step", step}, {"continue_from", divergence.helpful.value_or(-1)}});
  return divergence.advice(parts_.job->config);
}

}  // namespace trireme::train
