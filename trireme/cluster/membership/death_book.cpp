#include "trireme/cluster/membership/death_book.h"

#include <algorithm>
#include <utility>
#include <vector>

namespace trireme::cluster::membership {

void DeathBook::accuse(int worker, const std::string& cause) {
  const std::lock_guard lock(mutex_);
  accused_.try_emplace(worker, cause);
}

void DeathBook::report(int worker, const std::string& cause) {
  {
    const std::lock_guard lock(mutex_);
    const auto accused = accused_.find(worker);
    if (!dead_.try_emplace(worker, accused == accused_.end() ? cause : accused->second).second) {
      return;
    }
    accused_.erase(worker);
  }
  tell();
}

void DeathBook::on_death(Callback callback) {
  {
    const std::lock_guard calling(calling_);
    callback_ = std::move(callback);
    const std::lock_guard lock(mutex_);
    told_.clear();
  }
  tell();
}

bool DeathBook::adopt(const Epoch& epoch, bool may_have_dead) {
  {
    const std::lock_guard lock(mutex_);
    std::set<int> members;
    for (const Seat& seat : epoch.seats()) members.insert(seat.worker);
    const bool has_dead = std::any_of(members.begin(), members.end(),
                                      [&](int worker) { return dead_.contains(worker); });
    if (has_dead && !may_have_dead) return false;
    members_ = std::move(members);
    told_.clear();
  }
  tell();
  return true;
}

void DeathBook::tell() {
  const std::lock_guard calling(calling_);
  if (!callback_) return;
  std::vector<std::pair<int, std::string>> news;
  {
    const std::lock_guard lock(mutex_);
    for (const int worker : members_) {
      const auto death = dead_.find(worker);
      if (death != dead_.end() && told_.insert(worker).second) news.push_back(*death);
    }
  }
  for (const auto& [worker, cause] : news) callback_(worker, cause);
}

std::set<int> DeathBook::dead() const {
  const std::lock_guard lock(mutex_);
  std::set<int> workers;
  for (const auto& [worker, cause] : dead_) workers.insert(worker);
  return workers;
}

std::optional<std::string> DeathBook::cause_of(int worker) const {
  const std::lock_guard lock(mutex_);
  const auto it = dead_.find(worker);
  return it == dead_.end() ? std::nullopt : std::optional(it->second);
}

bool DeathBook::has_lost() const {
  const std::lock_guard lock(mutex_);
  return std::any_of(members_.begin(), members_.end(),
                     [&](int worker) { return dead_.contains(worker); });
}

}  // namespace trireme::cluster::membership
