#include "trireme/cluster/membership/far_watch.h"

#include "trireme/cluster/rank_names.h"

namespace trireme::cluster::membership {

void FarWatch::add_members(const std::set<int>& workers, TimePoint now) {
  for (const int worker : workers) members_.try_emplace(worker, Signs{.heard = now, .gone = {}});
  if (!looked_) looked_ = now;
}

void FarWatch::set_members(const std::set<int>& workers, TimePoint now) {
  std::erase_if(members_, [&](const auto& entry) { return !workers.contains(entry.first); });
  std::erase_if(told_, [&](int worker) { return !workers.contains(worker); });
  add_members(workers, now);
}

void FarWatch::listen_to(const std::set<int>& workers, TimePoint now) {
  for (const int worker : workers) {
    const auto found = members_.find(worker);
    const bool is_new = !listened_ || !listened_->contains(worker);
    if (is_new && found != members_.end()) found->second.heard = now;
  }
  listened_ = workers;
}

void FarWatch::restart(TimePoint now) {
  for (auto& [worker, signs] : members_) signs = {.heard = now, .gone = {}};
  ends_.clear();
  looked_ = now;
}

void FarWatch::forgive(TimePoint now) {
  for (auto& [worker, signs] : members_) {
    signs.heard = now;
    if (signs.gone) signs.gone = now;
  }
}

void FarWatch::miss_absent(const std::map<int, Member>& records, TimePoint now) {
  for (auto& [worker, signs] : members_) {
    if (!records.contains(worker) && !signs.gone) signs.gone = now;
  }
}

void FarWatch::note(std::string_view key, const Bytes* value, TimePoint now) {
  if (const std::optional<int> ended = ended_worker_in(key)) {
    ends_.erase(*ended);
    if (value != nullptr) ends_.emplace(*ended, decode_end(*ended, *value));
    return;
  }
  const std::optional<int> worker = worker_in(key);
  if (!worker) return;
  const auto found = members_.find(*worker);
  if (found == members_.end()) return;
  const bool is_record = key == worker_key(*worker);
  if (value != nullptr) {
    found->second.heard = now;
    if (is_record) found->second.gone.reset();
  } else if (is_record && !found->second.gone) {
    found->second.gone = now;
  }
}

std::optional<FarWatch::Lost> FarWatch::look_at(int worker, const Signs& signs,
                                                TimePoint now) const {
  if (const auto end = ends_.find(worker); end != ends_.end()) return Lost{end->second, Sign::End};
  if (signs.gone && now - *signs.gone >= grace_) {
    return Lost{{worker, "its session in the store ended"}, Sign::NoRecord};
  }
  const bool is_heard = timeout_.count() == 0 || (listened_ && !listened_->contains(worker));
  if (is_heard || now - signs.heard <= timeout_) return std::nullopt;
  return Lost{{worker, "no heartbeat for " + name_seconds(now - signs.heard)}, Sign::NoHeartbeat};
}

std::vector<FarWatch::Lost> FarWatch::lost(TimePoint now) {
  const bool was_stopped = looked_ && timeout_.count() > 0 && now - *looked_ > timeout_ / 2;
  looked_ = now;
  if (was_stopped) forgive(now);
  std::vector<Lost> result;
  for (const auto& [worker, signs] : members_) {
    std::optional<Lost> lost = look_at(worker, signs, now);
    if (lost && told_.insert(worker).second) result.push_back(*std::move(lost));
  }
  return result;
}

void FarWatch::take_back(int worker, bool is_there) {
  told_.erase(worker);
  const auto found = members_.find(worker);
  if (is_there && found != members_.end()) found->second.gone.reset();
}

}  // namespace trireme::cluster::membership
