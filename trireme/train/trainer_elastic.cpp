// The parts of Trainer for elastic jobs, whose workers change.

#include <chrono>
#include <string>

#include "trireme/train/trainer.h"

namespace trireme::train {
namespace {

constexpr auto kWaitSlice = std::chrono::seconds(1);

// The launcher already shows why a worker failed; `is_brief` omits the cause here.
std::string list_of(const std::vector<cluster::membership::Gone>& gone, bool is_brief) {
  std::string text;
  for (const auto& one : gone) {
    const bool is_shown_elsewhere = is_brief && one.cause.starts_with(kItFailed);
    text += (text.empty() ? "worker " : ", worker ") + std::to_string(one.worker) +
            (one.is_dismissed     ? " was dismissed"
             : is_shown_elsewhere ? " failed"
                                  : ": " + one.cause);
  }
  return text;
}

std::string numbers_of(const std::vector<int>& workers) {
  std::string text;
  for (const int worker : workers) text += (text.empty() ? "" : ", ") + std::to_string(worker);
  return text;
}

}  // namespace

// The checkpoint of this step may lack the part of the lost worker, so all ranks save it again.
void Trainer::survive() {
  is_ending_ = false;
  if (saved_at_ == progress_.step) saved_at_ = -1;
  tell(recovery_->survive());
  wait_for_workers();
}

// Waits while the job has fewer than elastic.min_workers workers.
void Trainer::wait_for_workers() {
  ElasticWorld& world = *options_.world;
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
    tell(recovery_->change());
  }
}

JobState Trainer::job_state() const {
  return {.progress = progress_,
          .attended_at = attended_at_,
          .evaluated_at = evaluated_at_,
          .saved_at = saved_at_,
          .score = score_,
          .is_score_saved = is_score_saved_,
          .is_open = is_open_,
          .is_stopping = is_stopping_,
          .broken_loss = broken_loss_,
          .not_finite = not_finite_,
          .peak_flops = options_.reporter->peak_flops()};
}

void Trainer::adopt(const JobState& job_state) {
  // Only some ranks may know of a pending change; the next step asks all ranks again.
  is_change_wanted_ = false;
  is_open_ = job_state.is_open;
  // The time before a worker joined does not count for the job.
  if (options_.world->is_new()) watch_ = {};
  progress_ = job_state.progress;
  job_.step->work().set_returned(progress_.returned);
  job_.step->parts().rate_factor = progress_.plateau.factor;
  attended_at_ = job_state.attended_at;
  evaluated_at_ = job_state.evaluated_at;
  saved_at_ = job_state.saved_at;
  score_ = job_state.score;
  is_score_saved_ = job_state.is_score_saved;
  is_stopping_ = job_state.is_stopping;
  broken_loss_ = job_state.broken_loss;
  not_finite_ = job_state.not_finite;
  is_repeated_ = job_state.is_repeated;
  kept_assignment_ = job_state.assignment;
  options_.reporter->raise_peak_flops(job_state.peak_flops);
  if (progress_.loss_scale > 0) {
    job_.step->loss_scale().restore(
        {.scale = progress_.loss_scale, .good_steps = progress_.loss_scale_good_steps});
  }
}

std::vector<int> Trainer::workers() const {
  return options_.world != nullptr ? options_.world->workers() : std::vector<int>();
}

void Trainer::regroup() {
  balancer_.restart(workers());
  if (!is_open_) return;
  if (keeper_) {
    keeper_->regroup(job_.group, static_cast<std::int64_t>(job_.group.epoch()), workers());
  } else {
    make_keeper();
  }
  options_.reporter->set_ranks(job_.group.size());
  if (job_.group.rank() == 0) options_.reporter->take_over(job_, progress_);
}

void Trainer::tell(const Recovery::Incident& incident) {
  if (incident.gone.empty() && incident.joined.empty()) return;
  std::string text;
  if (!incident.gone.empty()) text = list_of(incident.gone, /*is_brief=*/true);
  const std::string joined = numbers_of(incident.joined);
  if (!joined.empty()) {
    text += (text.empty() ? "" : "; ") +
            std::string(incident.joined.size() == 1 ? "worker " : "workers ") + joined + " joined";
  }
  std::string how = incident.how;
  if (incident.redone > 0) {
    how += ", " + std::to_string(incident.redone) + " of " +
           std::to_string(incident.micro_batches) + " micro-batches redone";
  }
  char figures[128];
  std::snprintf(figures, sizeof(figures), " (%.1f ms, %s)", 1e3 * incident.seconds, how.c_str());
  const char* going = incident.workers == 1 ? " worker goes on" : " workers go on";
  options_.reporter->warn(text + "; " + std::to_string(incident.workers) + going + figures,
                          {{"event", incident.gone.empty() ? "workers joined" : "workers lost"},
                           {"gone", list_of(incident.gone, /*is_brief=*/false)},
                           {"joined", std::ssize(incident.joined)},
                           {"joined_workers", joined},
                           {"workers", incident.workers},
                           {"epoch", static_cast<std::int64_t>(options_.world->epoch())},
                           {"how", incident.how},
                           {"micro_batches", incident.micro_batches},
                           {"micro_batches_redone", incident.redone},
                           {"seconds", incident.seconds}});
}

}  // namespace trireme::train
