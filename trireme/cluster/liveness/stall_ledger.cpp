#include "trireme/cluster/liveness/stall_ledger.h"

#include <algorithm>
#include <iterator>
#include <utility>
#include <vector>

#include "trireme/cluster/rank_names.h"

namespace trireme::cluster {

std::optional<std::string> StallLedger::look(int worker, const Liveness::Report& report,
                                             const Liveness::Report& self, TimePoint now) {
  const auto [it, is_new] = accounts_.try_emplace(worker);
  const Account before = it->second;
  Account& account = it->second;
  account = {.report = report, .self = self, .looked = now, .stalled = {}};
  const bool has_moved =
      report.moves != before.report.moves || self.moves != before.self.moves || report.is_waiting;
  if (is_new || has_moved) return std::nullopt;
  const Duration looked = std::min(now - before.looked, 2 * interval_);
  account.stalled = before.stalled + (self.is_waiting ? looked : Duration{});
  if (config_.minimum.count() == 0 || report.is_in_long_phase) return std::nullopt;
  const Duration limit = limit_of(worker, self);
  if (account.stalled < limit || is_common(limit)) return std::nullopt;
  const Duration stalled = std::exchange(account.stalled, Duration{});
  return "stuck: others wait for it, and it made no progress for " + name_seconds(stalled) +
         " (limit " + name_seconds(limit) + ", see elastic.stall_minimum and elastic.stall_factor)";
}

Duration StallLedger::stalled(int worker) const {
  const auto it = accounts_.find(worker);
  return it == accounts_.end() ? Duration{} : it->second.stalled;
}

// Whether most workers stall. They may have started to stall one after the other, so half of the
// limit suffices.
bool StallLedger::is_common(Duration limit) const {
  const auto stalling = std::count_if(accounts_.begin(), accounts_.end(), [&](const auto& entry) {
    return entry.second.stalled >= limit / 2 && !entry.second.report.is_in_long_phase;
  });
  return 2 * stalling > std::ssize(accounts_) + 1;  // plus this worker
}

Duration StallLedger::limit_of(int worker, const Liveness::Report& self) const {
  std::vector<Duration> steps;
  if (self.step.count() > 0) steps.push_back(self.step);
  for (const auto& [other, account] : accounts_) {
    if (other != worker && account.report.step.count() > 0) steps.push_back(account.report.step);
  }
  if (steps.empty()) return config_.minimum;
  const auto middle = steps.begin() + std::ssize(steps) / 2;
  std::nth_element(steps.begin(), middle, steps.end());
  constexpr double kLongest = 1e18;  // nanoseconds: thirty years, and no overflow
  const double steps_long = config_.factor * static_cast<double>(middle->count());
  return std::max(config_.minimum,
                  Duration(static_cast<Duration::rep>(std::min(steps_long, kLongest))));
}

}  // namespace trireme::cluster
