#include "trireme/cluster/membership/far_watch.h"

#include "trireme/cluster/rank_names.h"

namespace trireme::cluster::membership {

void FarWatch::add_members(const std::set<int>& workers, TimePoint now) {
  for (const int worker : workers) members_.try_emplace(worker, Signs{.heard = now, .gone = {}});
}

void FarWatch::set_members(const std::set<int>& workers, TimePoint now) {
  std::erase_if(members_, [&](const auto& entry) { return !workers.contains(entry.first); });
  std::erase_if(told_, [&](int worker) { return !workers.contains(worker); });
  add_members(workers, now);
}

void FarWatch::restart(TimePoint now) {
  for (auto& [worker, signs] : members_) signs = {.heard = now, .gone = {}};
}

void FarWatch::miss_absent(const std::map<int, Member>& records, TimePoint now) {
  for (auto& [worker, signs] : members_) {
    if (!records.contains(worker) && !signs.gone) signs.gone = now;
  }
}

void FarWatch::note(std::string_view key, bool is_there, TimePoint now) {
  const std::optional<int> worker = worker_in(key);
  if (!worker) return;
  const auto found = members_.find(*worker);
  if (found == members_.end()) return;
  const bool is_record = key == worker_key(*worker);
  if (is_there) {
    found->second.heard = now;
    if (is_record) found->second.gone.reset();
  } else if (is_record && !found->second.gone) {
    found->second.gone = now;
  }
}

std::vector<FarWatch::Lost> FarWatch::lost(TimePoint now) {
  const bool was_stopped = looked_ && timeout_.count() > 0 && now - *looked_ > timeout_ / 2;
  looked_ = now;
  if (was_stopped) restart(now);
  std::vector<Lost> result;
  for (const auto& [worker, signs] : members_) {
    const bool is_gone = signs.gone && now - *signs.gone >= kReturn;
    const bool is_silent = timeout_.count() > 0 && now - signs.heard > timeout_;
    if ((!is_gone && !is_silent) || !told_.insert(worker).second) continue;
    const std::string silence = "no heartbeat for " + name_seconds(now - signs.heard);
    result.push_back({worker, is_gone ? "its session in the store ended" : silence, !is_gone});
  }
  return result;
}

void FarWatch::take_back(int worker, bool is_there) {
  told_.erase(worker);
  const auto found = members_.find(worker);
  if (is_there && found != members_.end()) found->second.gone.reset();
}

}  // namespace trireme::cluster::membership
