#include "trireme/train/evaluate/evaluations.h"

#include <cmath>
#include <string>
#include <utility>

#include "trireme/data/data_config.h"
#include "trireme/optim/kinds.h"
#include "trireme/train/averaged_weights.h"
#include "trireme/train/evaluate/evaluation.h"

namespace trireme::train {
namespace {

bool is_better(double score, double best, const std::string& metric) {
  if (std::isnan(best)) return !std::isnan(score);
  return is_larger_better(metric) ? score > best : score < best;
}

// The ranks of a replica compute the same scores, but perhaps not the same bits, or those without
// the last stage none, and what they decide by them must be the same: all of them use those of one.
void share(Scores& scores, const comm::Group& replica, int root, bool is_ranked) {
  const auto broadcast = [&](std::vector<double> values) {
    replica
        .broadcast({values.data(), values.size(), comm::DType::Float64}, root,
                   {.label = "scores of a replica"})
        .wait();
    return values;
  };
  scores.set_counts(broadcast(scores.counts()));
  scores.set_moments(broadcast(scores.moments()));
  if (is_ranked) scores.set_roc_auc(broadcast({scores.roc_auc().value_or(0)})[0]);
}

}  // namespace

Evaluations::Evaluations(Parts parts)
    : parts_(parts),
      plateau_(optim::make_plateau(parts.job->config, is_larger_better(parts.job->eval().metric))) {
}

bool Evaluations::are_open() const {
  return parts_.job->sets.test && parts_.state->evaluated_at != parts_.state->progress.step;
}

bool Evaluations::are_due() const {
  return parts_.job->is_due(parts_.job->eval().every, parts_.state->progress.step);
}

bool Evaluations::has_patience() const {
  const int patience = parts_.job->eval().patience;
  return patience == 0 || parts_.state->progress.evaluations_since_best < patience;
}

bool Evaluations::run() {
  auto scores = scores_of_weights();
  if (!scores) return false;
  parts_.state->evaluated_at = parts_.state->progress.step;
  scores_ = std::move(scores);
  compare_with_best();
  follow_plateau();
  parts_.reporter->evaluated(parts_.state->progress, *scores_);
  return true;
}

// Evaluates the averaged weights, if the job has them. Elastic jobs evaluate the weights
// themselves: a worker that died while averages replace the weights would take the weights with it.
std::optional<Scores> Evaluations::scores_of_weights() {
  Job& job = *parts_.job;
  std::optional<AveragedWeights> average;
  if (optim::has_average(job.config) && !job.is_elastic) {
    average.emplace(job.gradient_sync());
  } else {
    job.gradient_sync().model().settle();
  }
  const bool is_ranked = parts_.state->progress.metric == "roc_auc";
  auto scores = evaluate_unless(*job.model,
                                {.source = job.sets.test,
                                 .loss = job.loss.get(),
                                 .batch = job.eval().batch,
                                 .threads = job.config.get<data::DataConfig>("data").threads,
                                 .precision = job.train().precision,
                                 .is_ranked = is_ranked,
                                 .group = job.mesh.group(kDataAxis),
                                 .pipeline = job.pipeline.get()},
                                *parts_.is_stop_wanted, job.group);
  if (average) average->put_back();
  if (scores && job.pipeline) {
    const comm::Group& stages = job.mesh.group(parallel::pipeline::kPipeAxis);
    share(*scores, stages, stages.size() - 1, is_ranked);
  }
  if (scores && job.mesh.has(parallel::tensor::kTensorAxis)) {
    share(*scores, job.mesh.group(parallel::tensor::kTensorAxis), 0, is_ranked);
  }
  return scores;
}

void Evaluations::compare_with_best() {
  Progress& progress = parts_.state->progress;
  const double score = scores_->value_of(progress.metric);
  parts_.state->score = score;
  if (is_better(score, progress.best, progress.metric)) {
    progress.best = score;
    progress.best_step = progress.step;
    progress.evaluations_since_best = 0;
  } else {
    ++progress.evaluations_since_best;
  }
}

// The evaluation at the end of a job does not count unless it is due: a job that is resumed with
// more steps would otherwise have one evaluation more than an uninterrupted job.
void Evaluations::follow_plateau() {
  if (!plateau_ || !are_due()) return;
  Progress& progress = parts_.state->progress;
  progress.plateau = plateau_->after(progress.plateau, *parts_.state->score);
  parts_.job->step->parts().lr_factor = progress.plateau.factor;
}

}  // namespace trireme::train
