#include "bench/train/rank/measure.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <ctime>
#include <fstream>
#include <limits>
#include <sstream>
#include <vector>

#include "trireme/base/error.h"
#include "trireme/comm/span.h"
#include "trireme/comm/torch/tensor.h"
#include "trireme/parallel/consistency.h"
#include "trireme/parallel/data/storage/flat_memory.h"
#include "trireme/train/report/step_times.h"

namespace trireme::bench {
namespace {

using train::TrainOptions;
using train::TrainRecord;
using trireme::train::Job;
using trireme::train::Outcome;
using trireme::train::StepTimes;

constexpr std::int64_t kWarmSteps = 5;
constexpr int kCommunicationRounds = 3;
// The share of a step's time that its phases may leave unaccounted for.
constexpr double kPartsSlack = 0.03;

// The bytes that a line "<key> <number> kB" states.
std::int64_t bytes_in(const char* path, const std::string& key) {
  std::ifstream in(path);
  for (std::string line; std::getline(in, line);) {
    if (!line.starts_with(key)) continue;
    std::istringstream words(line.substr(key.size()));
    std::int64_t kibibytes = 0;
    words >> kibibytes;
    return kibibytes * 1024;
  }
  return 0;
}

// Bytes sent so far through an interface of this network namespace, as the kernel counts them; 0
// for
// "". The line is "wire0: ", then eight figures of received data, then those of sent data.
std::int64_t bytes_sent(const std::string& interface) {
  std::ifstream in("/proc/self/net/dev");
  for (std::string line; !interface.empty() && std::getline(in, line);) {
    std::istringstream words(line);
    std::string name;
    if (!(words >> name) || name != interface + ":") continue;
    std::int64_t figure = 0;
    for (int i = 0; i <= 8; ++i) words >> figure;
    return figure;
  }
  return 0;
}

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

void add_memory(TrainRecord& record, const comm::Group& group) {
  const std::int64_t peak = bytes_in("/proc/self/status", "VmHWM:");
  // A page that n processes share counts as 1/n.
  const std::int64_t proportional = bytes_in("/proc/self/smaps_rollup", "Pss:");
  const std::vector<double> all =
      gather(group, {static_cast<double>(peak), static_cast<double>(proportional)});
  for (std::size_t i = 0; i < all.size(); i += 2) {
    record.peak_bytes = std::max(record.peak_bytes, static_cast<std::int64_t>(all[i]));
    record.pss_bytes += static_cast<std::int64_t>(all[i + 1]);
  }
}

// The measured steps, as this rank ran them.
struct OwnSteps {
  StepTimes times;
  double seconds = 0;
  double cpu_seconds = 0;
  std::int64_t bytes = 0;       // of encoded gradients
  std::int64_t wire_bytes = 0;  // sent through the interface
  std::int64_t count = 0;
  Outcome last;
};

OwnSteps run_steps(Job& job, const TrainOptions& options, std::int64_t updates) {
  OwnSteps own;
  job.group.barrier().wait();
  const double cpu_before = cpu_seconds();
  const std::int64_t sent_before = bytes_sent(options.interface);
  trireme::train::Stopwatch watch;
  do {
    // The step during which the time runs out is the last one, on every rank.
    const bool is_last = job.group.rank() == 0 && own.seconds >= options.seconds &&
                         (own.count + 1) % std::max(1, options.every) == 0;
    own.last = job.step->run(updates++, is_last);
    own.times += own.last.times;
    own.bytes += own.last.traffic.sent;
    ++own.count;
    own.seconds += watch.lap();
  } while (!own.last.is_stop_wanted);
  own.wire_bytes = bytes_sent(options.interface) - sent_before;
  own.cpu_seconds = cpu_seconds() - cpu_before;
  return own;
}

// The figures of a step, over all ranks.
void add_times(TrainRecord& record, const comm::Group& group, const OwnSteps& own) {
  const StepTimes& mine = own.times;
  const auto steps = static_cast<double>(own.count);
  const std::vector<double> all = gather(
      group, {mine.data / steps, mine.forward / steps, mine.backward / steps, mine.wait / steps,
              mine.update / steps, own.seconds / steps, own.cpu_seconds / steps});
  const double share = 1.0 / group.size();
  for (std::size_t i = 0; i < all.size(); i += 7) {
    record.parts += {.data = all[i] * share,
                     .forward = all[i + 1] * share,
                     .backward = all[i + 2] * share,
                     .wait = all[i + 3] * share,
                     .update = all[i + 4] * share};
    // The slowest rank determines the duration.
    record.seconds_per_step = std::max(record.seconds_per_step, all[i + 5]);
    record.cpu_seconds_per_step += all[i + 6];
  }
  record.steps = own.count;
  record.bytes_per_step = static_cast<double>(own.bytes) / steps;
  record.wire_bytes_per_step = static_cast<double>(own.wire_bytes) / steps;
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

struct Flat {
  at::Tensor gradients, values, slice;
};

// Buckets are sharded separately: every rank owns an equal part of each bucket, as in training.
void exchange_bucket(const comm::Group& group, const GradientExchange& how, const Flat& flat,
                     std::int64_t begin, std::int64_t count) {
  const at::Tensor gradients = flat.gradients.narrow(0, begin, count);
  if (how.sync == "all_reduce") {
    comm::all_reduce(group, gradients, comm::ReduceOp::Sum).wait();
    return;
  }
  const std::int64_t share = count / group.size();
  const at::Tensor slice = flat.slice.narrow(0, 0, share);
  comm::reduce_scatter(group, slice, gradients, comm::ReduceOp::Sum).wait();
  int gathers = 0;
  // With one copy of the weights per host, no rank gathers them.
  if (!group.arena()) gathers = how.sync == "zero3" ? 2 : how.sync == "shared" ? 0 : 1;
  for (int i = 0; i < gathers; ++i) {
    comm::all_gather(group, flat.values.narrow(0, begin, count), slice).wait();
  }
}

}  // namespace

TrainRecord measure(Job& job, const TrainOptions& options, const Workload& workload) {
  const double first_loss = job.step->run(0).loss;
  std::int64_t updates = 1;
  while (updates < kWarmSteps) job.step->run(updates++);
  const OwnSteps own = run_steps(job, options, updates);

  TrainRecord record{options};
  record.who = kOurs;
  record.unit = workload.unit;
  add_times(record, job.group, own);
  add_memory(record, job.group);
  const std::int64_t units = workload.batch * options.ranks * workload.units_per_sample();
  record.units_per_second = static_cast<double>(units) / record.seconds_per_step;
  const std::string mistake = mistake_in(job, first_loss, own.last.loss,
                                         gather(job.group, {own.times.total() / own.seconds}));
  record.is_verified = mistake.empty();
  if (!mistake.empty() && job.group.rank() == 0) {
    std::fprintf(stderr, "WRONG: %s\n", mistake.c_str());
  }
  return record;
}

double communication_alone(const comm::Group& group, const GradientExchange& exchange) {
  if (group.size() == 1) return 0;
  const std::int64_t ranks = group.size();
  const auto up = [&](std::int64_t count) { return (count + ranks - 1) / ranks * ranks; };
  const std::int64_t bucket = up(std::max<std::int64_t>(exchange.bucket / 4, 1));
  const std::int64_t whole = up(exchange.parameters);
  const Flat flat{.gradients = parallel::data::private_flat(group, whole, at::kFloat),
                  .values = parallel::data::private_flat(group, whole, at::kFloat),
                  .slice = parallel::data::private_flat(group, bucket, at::kFloat)};
  double best = std::numeric_limits<double>::infinity();
  for (int round = 0; round < kCommunicationRounds; ++round) {
    group.barrier().wait();
    trireme::train::Stopwatch watch;
    for (std::int64_t begin = 0; begin < whole; begin += bucket) {
      exchange_bucket(group, exchange, flat, begin, std::min(bucket, whole - begin));
    }
    best = std::min(best, watch.lap());
  }
  return best;
}

}  // namespace trireme::bench
