#include "trireme/cluster/liveness/stall_ledger.h"

#include <algorithm>
#include <iterator>
#include <utility>
#include <vector>

#include "trireme/cluster/rank_names.h"

namespace trireme::cluster {
namespace {

// See Liveness: a waiting worker leaves the scope for moments.
bool has_waited(const Liveness::Report& before, const Liveness::Report& now) {
  return now.is_waiting || now.waits != before.waits;
}

Duration times(double factor, Duration step) {
  constexpr double kLongest = 1e18;  // nanoseconds: thirty years, and no overflow
  const double product = factor * static_cast<double>(step.count());
  return Duration(static_cast<Duration::rep>(std::min(product, kLongest)));
}

}  // namespace

std::optional<std::string> StallLedger::look(int worker, const Liveness::Report& report,
                                             const Liveness::Report& self, TimePoint now) {
  const std::lock_guard lock(mutex_);
  const auto [it, is_new] = accounts_.try_emplace(worker);
  const Account before = it->second;
  Account& account = it->second;
  account = {.report = report, .self = self, .looked = now};
  const bool has_moved = report.moves != before.report.moves || self.moves != before.self.moves ||
                         has_waited(before.report, report);
  if (is_new || has_moved) return std::nullopt;
  extend(account, before);
  if (!has_waited(before.self, self)) account.stalled = before.stalled;
  if (config_.minimum.count() == 0 || report.is_in_long_phase) return std::nullopt;
  Duration limit = limit_of(worker, self);
  if (is_common(limit)) limit *= kCommon;
  if (!is_due(account, limit)) return std::nullopt;
  return "stuck: others wait for it, and it made no progress for " + name_seconds(account.stalled) +
         " (limit " + name_seconds(limit) + ", see elastic.stall_minimum and elastic.stall_factor)";
}

std::optional<std::string> StallLedger::look_at_self(const Liveness::Report& self, TimePoint now) {
  const std::lock_guard lock(mutex_);
  const std::optional<Account> before = std::exchange(own_, Account{.report = self, .looked = now});
  if (!before || self.moves != before->report.moves || has_waited(before->report, self)) {
    return std::nullopt;
  }
  extend(*own_, *before);
  const Duration limit = limit_of_self(self);
  if (limit.count() == 0 || !is_due(*own_, limit)) return std::nullopt;
  return "stuck: it made no progress for " + name_seconds(own_->stalled) +
         " and waits for no other worker (limit " + name_seconds(limit) + ", see sync.timeout)";
}

void StallLedger::forget(int worker) {
  const std::lock_guard lock(mutex_);
  accounts_.erase(worker);
}

Duration StallLedger::stalled(int worker) const {
  const std::lock_guard lock(mutex_);
  const auto it = accounts_.find(worker);
  return it == accounts_.end() ? Duration{} : it->second.stalled;
}

// The worker still stalls, since the account before.
void StallLedger::extend(Account& account, const Account& before) const {
  account.stalled = before.stalled + std::min(account.looked - before.looked, 2 * interval_);
  account.told = before.told;
}

bool StallLedger::is_due(Account& account, Duration limit) {
  if (account.stalled - account.told < limit) return false;
  account.told = account.stalled;
  return true;
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
  return std::max(config_.minimum, times(config_.factor, *middle));
}

Duration StallLedger::limit_of_self(const Liveness::Report& self) const {
  if (self.is_in_long_phase) return config_.phase_max;
  if (config_.step_max.count() == 0) return {};
  return std::max(config_.step_max, times(config_.factor, self.step));
}

}  // namespace trireme::cluster
