#include "trireme/train/balance/balancer.h"

#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <fstream>
#include <utility>

#include "trireme/parallel/strategies.h"
#include "trireme/train/balance/micro_batches.h"

namespace trireme::train {
namespace {

// Seconds since this thread began in which it was runnable but another one used the core.
double seconds_delayed() {
  std::ifstream file("/proc/thread-self/schedstat");
  double ran = 0;
  double delayed = 0;
  return file >> ran >> delayed ? 1e-9 * delayed : 0;
}

// Whether the weights of ranks differ between two synchronizations of this part of the job.
bool has_replicas(const Job& job, const parallel::Stretch& stretch) {
  parallel::SyncOptions options;
  options.group = job.mesh.group(kDataAxis);
  options.pace = stretch.pace;
  options.is_elastic = job.is_elastic;
  options.is_spread = job.is_spread;
  return job.strategies.named(stretch.kind).has_replicas(options);
}

}  // namespace

Balancer::Balancer(Job& job, Reporter& reporter)
    : job_(job), reporter_(reporter), config_(balance_of(job.config)) {
  is_on_ = config_.every > 0;
  every_ = config_.every;
  for (const parallel::Stretch& stretch : job.stretches) {
    const parallel::Strategy& strategy = job.strategies.named(stretch.kind);
    if (!has_replicas(job, stretch)) continue;
    can_reassign_ = false;
    // Ranks that may run ahead of others must not wait for a comparison.
    is_on_ &= stretch.pace.slack == 0 && stretch.pace.overlap == 0;
    // Compares at the end of rounds, if there are any.
    const std::int64_t steps = strategy.pace ? stretch.pace.steps : 1;
    every_ = std::max(every_, (config_.every + steps - 1) / steps * steps);
  }
  restart();
  if (config_.kind == BalanceKind::Static) assign();
}

void Balancer::restart() {
  workers_ = job_.workers;
  balance_.emplace(config_, job_.replicas());
  stragglers_ = {};
  since_ = {};
  before_ = strain();
}
void Balancer::end_step(const Outcome& outcome) {
  since_.seconds += watch_.lap() - outcome.times.wait;
  // At the end of a round the update includes waiting for the weights of other ranks.
  if (!can_reassign_) since_.seconds -= outcome.times.update;
  since_.samples += static_cast<double>(outcome.own_samples);
  since_.data += outcome.times.data;
}

// How long the host has kept this rank from running so far.
Pace Balancer::strain() const {
  return {.throttled = cgroup_.throttled_seconds(),
          .delayed = seconds_delayed(),
          .process = static_cast<double>(getpid())};
}

void Balancer::look(std::int64_t step) {
  if (!is_on_ || job_.group.size() == 1 || step % every_ != 0) return;
  const std::vector<Pace> paces = all_paces();
  since_ = {};
  before_ = strain();
  if (const auto slow = stragglers_.look(paces)) tell(*slow);
  if (can_reassign_ && balance_->follow(paces_of_replicas(paces))) assign();
}

std::vector<Pace> Balancer::all_paces() const {
  const Pace now = strain();
  Pace mine = since_;
  mine.throttled = now.throttled - before_.throttled;
  mine.delayed = now.delayed - before_.delayed;
  mine.process = now.process;
  const auto ranks = static_cast<std::size_t>(job_.group.size());
  const std::array<double, Pace::kSize> sent = mine.to_array();
  std::vector<double> all(ranks * Pace::kSize);
  job_.group
      .all_gather({all.data(), all.size(), comm::DType::Float64},
                  {sent.data(), sent.size(), comm::DType::Float64}, {.label = "speed of all ranks"})
      .wait();
  std::vector<Pace> paces;
  for (std::size_t rank = 0; rank < ranks; ++rank) {
    paces.push_back(Pace::from_array(all.data() + rank * Pace::kSize));
  }
  return paces;
}

// By replica: the pace of its slowest rank, for which its other ranks wait.
std::vector<Pace> Balancer::paces_of_replicas(std::span<const Pace> paces) const {
  std::vector<std::optional<Pace>> slowest(static_cast<std::size_t>(job_.replicas()));
  for (std::size_t rank = 0; rank < paces.size(); ++rank) {
    auto& known = slowest[static_cast<std::size_t>(job_.replica_of(static_cast<int>(rank)))];
    if (!known || known->seconds < paces[rank].seconds) known = paces[rank];
  }
  std::vector<Pace> all;
  for (const std::optional<Pace>& one : slowest) all.push_back(one.value());
  return all;
}

// Assigns whole micro-batches if these are fixed, otherwise micro-batches of other sizes.
void Balancer::assign() {
  const std::vector<double>& shares = balance_->shares();
  const int micro_batches = job_.train().logical_ranks;
  if (micro_batches > 0) {
    std::vector<int> owners = assign_micro_batches(micro_batches, shares);
    if (owners == job_.step->parts().micro_batch_owners) return;
    job_.assign(std::move(owners));
  } else {
    std::vector<int> owners = job_.fair_owners();
    std::vector<std::int64_t> weights = micro_batch_weights(owners, shares);
    job_.assign(std::move(owners), std::move(weights));
  }
  std::string text;
  char part[32];
  for (const double share : shares) {
    std::snprintf(part, sizeof(part), "%s%.3f", text.empty() ? "" : " ", share);
    text += part;
  }
  reporter_.event({{"event", "balanced"}, {"shares", text}});
}

void Balancer::tell(const Stragglers::Slow& slow) const {
  char figures[64];
  std::snprintf(figures, sizeof(figures), "%.1f times as long", slow.ratio);
  const auto rank = static_cast<std::size_t>(slow.rank);
  const std::string name = workers_.empty() ? "rank " + std::to_string(slow.rank)
                                            : "worker " + std::to_string(workers_.at(rank));
  std::string text = name + " (process " + std::to_string(slow.process) + ") needs " + figures +
                     " per sample as the other ranks: " + slow.cause;
  if (config_.kind == BalanceKind::Off && can_reassign_) {
    text += "; balance.kind=proportional would give it less work";
  }
  if (job_.is_elastic) {
    text += "; if it is killed (kill -9 " + std::to_string(slow.process) +
            " on its host), another worker replaces it";
  }
  Record event{{"event", "slow rank"},
               {"rank", slow.rank},
               {"process", static_cast<std::int64_t>(slow.process)},
               {"ratio", slow.ratio},
               {"cause", slow.cause}};
  if (!workers_.empty()) event.add({"worker", workers_.at(rank)});
  reporter_.warn(text, event);
}

}  // namespace trireme::train
