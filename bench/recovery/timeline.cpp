#include "bench/recovery/timeline.h"

#include <algorithm>
#include <utility>

#include "bench/statistics.h"

namespace trireme::bench::recovery {
namespace {

constexpr std::size_t kNextSteps = 5;

double seconds(std::int64_t nanoseconds) {
  return static_cast<double>(nanoseconds) * 1e-9;
}

}  // namespace

void Timeline::add(const monitor::StepLine& line) {
  if (line.is_begin) {
    begins_.emplace(line.worker, line.nanoseconds);
    return;
  }
  steps_[line.worker].push_back(line);
  epoch_ = std::max(epoch_, line.epoch);
}

int Timeline::steps_in_epoch(int worker) const {
  const auto at = steps_.find(worker);
  if (at == steps_.end()) return 0;
  return static_cast<int>(std::ranges::count(at->second, epoch_, &monitor::StepLine::epoch));
}

std::optional<std::int64_t> Timeline::began(int worker) const {
  const auto at = begins_.find(worker);
  return at == begins_.end() ? std::nullopt : std::optional(at->second);
}

std::optional<double> Timeline::lost(std::int64_t struck, std::int64_t epoch,
                                     const std::set<int>& survivors) const {
  double until = 0;
  std::vector<double> next;
  for (const int worker : survivors) {
    const auto at = steps_.find(worker);
    if (at == steps_.end()) return std::nullopt;
    const std::vector<monitor::StepLine>& all = at->second;
    const auto first = std::ranges::find_if(
        all, [&](const auto& line) { return line.epoch > epoch && line.nanoseconds > struck; });
    if (all.end() - first <= static_cast<std::ptrdiff_t>(kNextSteps)) return std::nullopt;
    until = std::max(until, seconds(first->nanoseconds - struck));
    for (std::size_t i = 0; i < kNextSteps; ++i) {
      next.push_back(seconds(first[static_cast<std::ptrdiff_t>(i) + 1].nanoseconds -
                             first[static_cast<std::ptrdiff_t>(i)].nanoseconds));
    }
  }
  return until - median(std::move(next));
}

std::optional<double> Timeline::jolt(std::int64_t struck, const std::set<int>& workers,
                                     int count) const {
  double before = 0, since = 0;
  for (const int worker : workers) {
    const auto at = steps_.find(worker);
    if (at == steps_.end()) return std::nullopt;
    const std::vector<monitor::StepLine>& all = at->second;
    const auto after =
        std::ranges::find_if(all, [&](const auto& line) { return line.nanoseconds > struck; });
    if (all.end() - after < count || after - all.begin() < 2) return std::nullopt;
    const auto first = after - all.begin() > count ? after - count : all.begin() + 1;
    for (auto step = first; step != after + count; ++step) {
      const double took = seconds(step->nanoseconds - (step - 1)->nanoseconds);
      double& largest = step < after ? before : since;
      largest = std::max(largest, took);
    }
  }
  return since - before;
}

double Timeline::median_step(const std::set<int>& workers) const {
  std::vector<double> all;
  for (const int worker : workers) {
    const auto at = steps_.find(worker);
    if (at == steps_.end()) continue;
    for (std::size_t i = 1; i < at->second.size(); ++i) {
      all.push_back(seconds(at->second[i].nanoseconds - at->second[i - 1].nanoseconds));
    }
  }
  return median(std::move(all));
}

}  // namespace trireme::bench::recovery
