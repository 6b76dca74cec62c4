#include "bench/train/rank/measure.h"

#include <algorithm>
#include <cmath>
#include <ctime>
#include <vector>

#include "bench/train/rank/footprint.h"
#include "trireme/base/error.h"
#include "trireme/comm/span.h"
#include "trireme/parallel/consistency.h"
#include "trireme/train/report/step_times.h"

namespace trireme::bench {
namespace {

using trireme::train::Job;
using trireme::train::Outcome;
using trireme::train::StepTimes;

constexpr std::int64_t kWarmSteps = 5;
// The share of a step's time that its phases may leave unaccounted for.
constexpr double kPartsSlack = 0.03;

std::vector<double> gather(const comm::Group& group, std::vector<double> mine) {
  std::vector<double> all(mine.size() * static_cast<std::size_t>(group.size()));
  group.all_gather(comm::span(all), comm::const_span(mine)).wait();
  return all;
}

double cpu_seconds() {
  timespec now{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

// Synchronizes replicas that differ between two synchronization rounds first.
bool has_equal_weights(Job& job) {
  job.gradient_sync().model().join();
  job.gradient_sync().model().settle();
  try {
    parallel::expect_same_values(job.group, parallel::parameters_of(*job.model), job.group.rank());
  } catch (const Error& error) {
    if (error.code() != ErrorCode::Mismatch) throw;
    return false;
  }
  return true;
}

void add_memory(Measured& measured, const comm::Group& group) {
  const std::vector<double> all =
      gather(group, {static_cast<double>(peak_bytes()), static_cast<double>(proportional_bytes())});
  for (std::size_t i = 0; i < all.size(); i += 2) {
    measured.peak_bytes = std::max(measured.peak_bytes, static_cast<std::int64_t>(all[i]));
    measured.pss_bytes += static_cast<std::int64_t>(all[i + 1]);
  }
}

void add_parts(Measured& measured, const comm::Group& group, const StepTimes& mine) {
  const std::vector<double> all =
      gather(group, {mine.data, mine.forward, mine.backward, mine.wait, mine.update});
  const double share = 1.0 / group.size();
  for (std::size_t i = 0; i < all.size(); i += 5) {
    measured.parts += {.data = all[i] * share,
                       .forward = all[i + 1] * share,
                       .backward = all[i + 2] * share,
                       .wait = all[i + 3] * share,
                       .update = all[i + 4] * share};
  }
}

// The measured steps, as this rank ran them.
struct OwnSteps {
  StepTimes times;
  double cpu_seconds = 0;
  Outcome last;
};

OwnSteps run_steps(Job& job, const Extent& extent, std::int64_t updates, Measured& measured) {
  OwnSteps own;
  job.group.barrier().wait();
  const double cpu_before = cpu_seconds();
  const std::int64_t sent_before = bytes_sent(extent.interface);
  trireme::train::Stopwatch watch;
  do {
    // The step during which the time runs out is the last one, on every rank.
    const bool is_last = job.group.rank() == 0 && measured.seconds >= extent.seconds &&
                         (measured.steps + 1) % extent.every == 0;
    own.last = job.step->run(updates++, is_last);
    own.times += own.last.times;
    measured.bytes += own.last.traffic.sent;
    ++measured.steps;
    measured.seconds += watch.lap();
  } while (!own.last.is_stop_wanted);
  measured.wire_bytes = bytes_sent(extent.interface) - sent_before;
  own.cpu_seconds = cpu_seconds() - cpu_before;
  return own;
}

// Why the training is incorrect; empty if it is correct. `shares`: of the ranks' times, how much
// the parts of their steps account for.
std::string mistake_in(Job& job, double first_loss, double last_loss,
                       const std::vector<double>& shares) {
  const auto [least, most] = std::minmax_element(shares.begin(), shares.end());
  if (!std::isfinite(last_loss)) return "the loss is not finite";
  if (last_loss >= first_loss) {
    return "the loss went from " + std::to_string(first_loss) + " to " + std::to_string(last_loss);
  }
  if (!has_equal_weights(job)) return "ranks ended with different weights";
  if (*least < 1 - kPartsSlack || *most > 1 + kPartsSlack) {
    return "the parts of a step are " + std::to_string(*least) + " of it";
  }
  return {};
}

}  // namespace

Measured measure(Job& job, const Extent& extent) {
  Measured measured;
  const double first_loss = job.step->run(0).loss;
  std::int64_t updates = 1;
  while (updates < kWarmSteps) job.step->run(updates++);
  const OwnSteps own = run_steps(job, extent, updates, measured);

  for (double cpu_of_rank : gather(job.group, {own.cpu_seconds})) {
    measured.cpu_seconds += cpu_of_rank;
  }
  const std::vector<double> shares = gather(job.group, {own.times.total() / measured.seconds});
  // The slowest rank determines the duration.
  const std::vector<double> all = gather(job.group, {measured.seconds});
  measured.seconds = *std::max_element(all.begin(), all.end());
  add_memory(measured, job.group);
  add_parts(measured, job.group, own.times);
  measured.wrong = mistake_in(job, first_loss, own.last.loss, shares);
  return measured;
}

}  // namespace trireme::bench
