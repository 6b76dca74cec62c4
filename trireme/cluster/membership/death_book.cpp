#include "trireme/cluster/membership/death_book.h"

#include <algorithm>
#include <utility>
#include <vector>

namespace trireme::cluster::membership {

void DeathBook::accuse(int worker, const std::string& cause) {
  const std::lock_guard lock(mutex_);
  accused_.try_emplace(worker, cause);
}

void DeathBook::report(const WorkerEnd& end) {
  {
    const std::lock_guard lock(mutex_);
    const auto [entry, is_new] = dead_.try_emplace(end.worker, end);
    if (!is_new) return;
    const auto accused = accused_.extract(end.worker);
    if (accused) entry->second.cause = accused.mapped();
  }
  tell();
}

void DeathBook::on_gone(Callback callback) {
  {
    const std::lock_guard calling(calling_);
    const std::lock_guard lock(mutex_);
    listeners_.push_back({.callback = std::move(callback)});
  }
  tell();
}

bool DeathBook::adopt(const Epoch& epoch, bool may_have_dead) {
  {
    const std::lock_guard lock(mutex_);
    std::set<int> members;
    for (const EpochMember& entry : epoch.members()) members.insert(entry.worker);
    const bool has_dead = std::any_of(members.begin(), members.end(),
                                      [&](int worker) { return dead_.contains(worker); });
    if (has_dead && !may_have_dead) return false;
    members_ = std::move(members);
    for (Listener& listener : listeners_) listener.told.clear();
  }
  tell();
  return true;
}

void DeathBook::tell() {
  const std::lock_guard calling(calling_);
  for (Listener& listener : listeners_) {
    std::vector<WorkerEnd> news;
    {
      const std::lock_guard lock(mutex_);
      for (const int worker : members_) {
        const auto end = dead_.find(worker);
        if (end != dead_.end() && listener.told.insert(worker).second) news.push_back(end->second);
      }
    }
    for (const WorkerEnd& end : news) listener.callback(end);
  }
}

std::set<int> DeathBook::dead() const {
  const std::lock_guard lock(mutex_);
  std::set<int> workers;
  for (const auto& [worker, end] : dead_) workers.insert(worker);
  return workers;
}

std::optional<std::string> DeathBook::cause_of(int worker) const {
  const std::lock_guard lock(mutex_);
  const auto it = dead_.find(worker);
  return it == dead_.end() ? std::nullopt : std::optional(it->second.cause);
}

bool DeathBook::has_died(int worker) const {
  const std::lock_guard lock(mutex_);
  const auto it = dead_.find(worker);
  return it != dead_.end() && !it->second.has_left;
}

bool DeathBook::has_lost() const {
  const std::lock_guard lock(mutex_);
  return std::any_of(members_.begin(), members_.end(),
                     [&](int worker) { return dead_.contains(worker); });
}

}  // namespace trireme::cluster::membership
