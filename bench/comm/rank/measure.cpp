#include "bench/comm/rank/measure.h"

#include <unistd.h>

#include <algorithm>

#include "bench/statistics.h"

namespace trireme::bench {
namespace {

// Long enough that the overhead between batches is negligible, short enough that there are many
// batches.
constexpr double kBatchSeconds = 0.05;
constexpr std::size_t kBatchMax = 20000;
constexpr std::size_t kWarmCalls = 3;
// Timings are kept for the percentiles: 32 MiB of them at most.
constexpr std::size_t kCallsMax = std::size_t{4} << 20;

// Returns rank 0's value on every rank: one rank decides how often all ranks call the operation.
std::int64_t agree(const comm::Group& group, std::int64_t value) {
  std::vector<std::int64_t> shared{value};
  group.broadcast(comm::span(shared), 0).wait();
  return shared[0];
}

std::vector<double> gather(const comm::Group& group, double value) {
  std::vector<double> all(static_cast<std::size_t>(group.size()));
  const std::vector<double> mine{value};
  group.all_gather(comm::span(all), comm::const_span(mine)).wait();
  return all;
}

std::size_t batch_size(const comm::Group& group, Exercise& exercise) {
  exercise.call();
  const double begin = now();
  for (std::size_t i = 0; i < kWarmCalls; ++i) exercise.call();
  const double each = (now() - begin) / kWarmCalls;
  const double fitting =
      std::clamp(kBatchSeconds / std::max(each, 1e-9), 1.0, static_cast<double>(kBatchMax));
  return static_cast<std::size_t>(agree(group, static_cast<std::int64_t>(fitting)));
}

// Appends the seconds of each call.
template <class Call>
void time_calls(const Call& call, std::size_t count, std::vector<double>& seconds) {
  double before = now();
  for (std::size_t i = 0; i < count; ++i) {
    call();
    const double after = now();
    seconds.push_back(after - before);
    before = after;
  }
}

// If every rank has its own core, each run is timed, and the median excludes runs that something
// else interrupted. Ranks that share cores interrupt each other all the time; only the time of a
// whole batch then shows the speed of all ranks together.
void time_bound(const Bound& bound, std::size_t count, bool has_own_core,
                std::vector<double>& seconds) {
  if (!bound.run) return;
  if (has_own_core) return time_calls(bound.run, count, seconds);
  const double begin = now();
  for (std::size_t i = 0; i < count; ++i) bound.run();
  seconds.push_back((now() - begin) / static_cast<double>(count));
}

}  // namespace

Timing measure(const comm::Group& group, Exercise& exercise, const std::vector<Bound>& bounds,
               double seconds) {
  const std::size_t batch = batch_size(group, exercise);
  std::vector<double> calls;
  std::vector<std::vector<double>> bound_seconds(bounds.size());
  const bool has_own_core = group.size() <= ::sysconf(_SC_NPROCESSORS_ONLN);
  double spent = 0;
  do {
    group.barrier().wait();
    const double begin = now();
    time_calls([&] { exercise.call(); }, batch, calls);
    spent += now() - begin;
    for (std::size_t b = 0; b < bounds.size(); ++b) {
      group.barrier().wait();
      time_bound(bounds[b], batch, has_own_core, bound_seconds[b]);
    }
  } while (agree(group, spent < seconds && calls.size() < kCallsMax ? 1 : 0) != 0);

  Timing timing;
  timing.p50 = std::ranges::max(gather(group, median(calls)));
  timing.p99 = std::ranges::max(gather(group, percentile(calls, 0.99)));
  for (const std::vector<double>& times : bound_seconds) {
    timing.bounds.push_back(harmonic_mean(gather(group, median(times))));
  }
  return timing;
}

}  // namespace trireme::bench
