#include "trireme/train/recovery/recovery.h"

#include <algorithm>
#include <utility>

#include "trireme/base/check.h"
#include "trireme/base/clock.h"
#include "trireme/train/balance/micro_batches.h"

namespace trireme::train {
namespace {

using parallel::StepStatus;

// Every failure within one step splits its micro-batches further.
constexpr std::size_t kMicroBatchesMax = 1024;

// Sends a text of any length from one rank to all ranks.
std::string broadcast_text(const comm::Group& group, std::string text, int root) {
  std::int64_t size = static_cast<std::int64_t>(text.size());
  group.broadcast({&size, 1, comm::DType::Int64}, root, {.label = "job state"}).wait();
  text.resize(static_cast<std::size_t>(size));
  group.broadcast({text.data(), text.size(), comm::DType::UInt8}, root, {.label = "job state"})
      .wait();
  return text;
}

double elapsed_since(TimePoint begin) {
  return std::chrono::duration<double>(steady_clock().now() - begin).count();
}

}  // namespace

parallel::ElasticSync& Recovery::elastic() const {
  auto* elastic = dynamic_cast<parallel::ElasticSync*>(&options_.job->gradient_sync());
  TRIREME_CHECK(elastic != nullptr, "the gradient synchronization of this job is not elastic");
  return *elastic;
}

parallel::StepCommit& Recovery::commit() const {
  return options_.job->gradient_sync().commit();
}

void Recovery::Incident::count(const NextStep& all) {
  if (all.micro_batches == 0) return;
  // Another failure splits micro-batches further. Some of the micro-batches that it lost may have
  // been counted before, so the sum is an upper bound.
  if (micro_batches > 0) redone = redone * all.micro_batches / micro_batches;
  micro_batches = all.micro_batches;
  redone = std::min(redone + all.redone, micro_batches);
}

Recovery::Incident Recovery::begin() {
  return turn_over(false, /*is_first=*/options_.world->has_group());
}

Recovery::Incident Recovery::survive() {
  return turn_over(false, false);
}

Recovery::Incident Recovery::change() {
  return turn_over(true, false);
}

// Retries until every live member completes the round; a member that dies is excluded from the next
// one.
Recovery::Incident Recovery::turn_over(bool takes_new, bool is_first) {
  ElasticWorld& world = *options_.world;
  const TimePoint begin = steady_clock().now();
  Incident incident;
  while (true) {
    try {
      std::string how = "between two steps";
      if (!is_first) {
        const std::vector<int> before = world.workers();
        const ElasticWorld::Turnover change = go_on(takes_new);
        is_join_complete_ = false;
        incident.gone.insert(incident.gone.end(), change.gone.begin(), change.gone.end());
        for (const int worker : world.workers()) {
          if (std::find(before.begin(), before.end(), worker) == before.end()) {
            incident.joined.push_back(worker);
          }
        }
        how = resolve(change);
      } else {
        take_group();
        commit().recall(-1, {});
      }
      // The long phase begins only after the epoch is decided, so that a worker that hangs while
      // members agree on the epoch is evicted.
      const Liveness::LongPhase handing_over(options_.job->liveness.get());
      if (incident.how != "rolled forward") incident.how = how;
      const JobState all = share_job_state(how == "run again");
      incident.count(all.next);
      elastic().regroup(world.is_new());
      options_.regroup();
      is_join_complete_ = true;
      world.settle();
      incident.workers = world.group().size();
      incident.seconds = elapsed_since(begin);
      return incident;
    } catch (const Error& error) {
      if (!is_loss(error)) throw;
      is_first = takes_new = false;
    }
  }
}

// Enters the next epoch. It aborts the collectives of the last group, because those that do not
// wait for the lost worker would not end by themselves. While it waits for members that do not yet
// know of the loss, it announces the loss to them.
ElasticWorld::Turnover Recovery::go_on(bool takes_new) {
  const comm::Group last = options_.job->group;
  const std::optional<Error> ended = last.error();
  const Error loss = ended && is_loss(*ended)
                         ? *ended
                         : Error(ErrorCode::PeerLost, "a worker of the last epoch is lost");
  bool is_told = takes_new;  // without a loss every member arrives by itself
  const auto tell = [&] {
    if (!std::exchange(is_told, true)) last.announce(loss);
    last.look();
  };
  if (!takes_new) last.abort(loss);
  ElasticWorld::Turnover change = options_.world->next(
      commit().status(),
      {.takes_new = takes_new, .is_join_complete = is_join_complete_, .while_waiting = tell});
  const auto is_lost = [](const cluster::membership::Gone& one) { return !one.is_dismissed; };
  if (std::any_of(change.gone.begin(), change.gone.end(), is_lost)) last.abort(loss);
  return change;
}

void Recovery::take_group() {
  options_.job->regroup(options_.world->group(), options_.world->workers());
  elastic().survive(options_.world->group(), options_.world->places());
}

// Finishes the update of a step that some rank had prepared.
std::string Recovery::resolve(const ElasticWorld::Turnover& change) {
  const Liveness::LongPhase updating(options_.job->liveness.get());
  take_group();
  const StepStatus mine = commit().status();
  std::int64_t furthest = -1;
  for (const auto& [worker, step_status] : change.statuses) {
    furthest = std::max(furthest, step_status.step);
  }
  const bool is_new = options_.world->is_new();
  std::vector<parallel::Prepared> told;
  for (const auto& [worker, step_status] : change.statuses) told.push_back(step_status.prepared);
  const auto all = commit().recall(is_new ? -1 : mine.step, told);
  bool is_forward = all && mine.step == furthest;
  bool is_begun = false;
  for (const auto& [worker, step_status] : change.statuses) {
    if (step_status.step != furthest) continue;
    is_forward |= step_status.phase != StepStatus::Phase::Open;
    is_begun |= step_status.phase != StepStatus::Phase::Finished;
  }
  const bool is_finished = mine.phase == StepStatus::Phase::Finished;
  if (is_new) {
    // A new worker has not begun a step.
  } else if (!is_finished && (mine.step < furthest || is_forward)) {
    TRIREME_CHECK(all, "step ", mine.step, " was prepared, but its result is not known here");
    options_.advance(options_.job->step->finish(*all));
  } else if (mine.step < furthest || is_forward) {
    // Ranks of other hosts may already be in the next step.
    elastic().finish_failed_ranks();
  }
  if (!is_begun) return "between two steps";
  return is_forward ? "rolled forward" : "run again";
}

// Broadcasts the state of the lowest rank that has one, and all ranks adopt it.
JobState Recovery::share_job_state(bool is_back) {
  const comm::Group& group = options_.world->group();
  const bool is_new = options_.world->is_new();
  JobState mine = *options_.state;
  std::int64_t least[2] = {is_new ? group.size() : group.rank(), is_new || mine.is_open ? 1 : 0};
  group
      .all_reduce({least, 2, comm::DType::Int64}, comm::ReduceOp::Min,
                  {.label = "job state source"})
      .wait();
  // If no rank has a state, the job begins with the state of rank 0.
  const std::int64_t source = least[0] == group.size() ? 0 : least[0];
  mine.is_open = least[1] != 0 && least[0] != group.size();
  mine.data = options_.job->data;
  mine.next = {.is_repeated = is_back, .owners = options_.job->fair_owners()};
  if (is_back) {
    reassign(mine);
    count_redone(mine.next);
  }
  const JobState all =
      JobState::from_json(broadcast_text(group, mine.to_json(), static_cast<int>(source)));
  mine.data.expect_data_of(all.data, "this worker", "rank " + std::to_string(source));
  if (!is_new) mine.expect_steps_of(all, source);
  options_.adopt(all);
  options_.job->loader().seek(all.progress.position);
  options_.job->assign(all.next.owners, all.next.weights);
  assigned_to_ = options_.world->workers();
  return all;
}

// Counts the micro-batches of lost workers, or all micro-batches if no gradients are reused.
void Recovery::count_redone(NextStep& next) const {
  const std::vector<int> workers = options_.world->workers();
  const std::vector<int>& owners = options_.job->step->parts().micro_batch_owners;
  next.micro_batches = next.redone = static_cast<int>(owners.size());
  if (next.assignment == 0) return;
  next.redone = static_cast<int>(std::count_if(owners.begin(), owners.end(), [&](int rank) {
    const int owner = assigned_to_[static_cast<std::size_t>(rank)];
    return std::find(workers.begin(), workers.end(), owner) == workers.end();
  }));
}

// Assigns the micro-batches of a step that is run again. If gradients are reused, survivors keep
// their micro-batches. Those of failed workers are distributed, split into pieces unless
// micro-batches are fixed. Returned samples are run by other ranks than before, so no gradients of
// a step that has some are reused.
void Recovery::reassign(JobState& mine) const {
  const Job& job = *options_.job;
  const std::vector<int> workers = options_.world->workers();
  const int pieces = job.has_fixed_micro_batches() ? 1 : static_cast<int>(workers.size());
  const std::vector<int> owners = split_micro_batches(job.step->parts().micro_batch_owners, pieces);
  const bool can_keep = elastic().keeps_micro_batches() && mine.progress.returned.empty();
  if (!can_keep || assigned_to_.empty() || owners.size() > kMicroBatchesMax) return;
  mine.next.assignment = job.step->assignment();
  mine.next.owners = reassign_micro_batches(owners, assigned_to_, workers);
  mine.next.weights = split_micro_batches(job.loader().weights(), pieces);
}

}  // namespace trireme::train
