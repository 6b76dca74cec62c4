#include "trireme/cluster/membership/presence_watch.h"

#include <algorithm>
#include <chrono>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "trireme/base/error.h"

namespace trireme::cluster::membership {
namespace {

using namespace std::chrono_literals;

constexpr auto kLook = 500ms;   // how soon the thread notices that it should end
constexpr auto kAgain = 100ms;  // between two attempts to reach a store that is gone

}  // namespace

PresenceWatch::PresenceWatch(Store& store, int most)
    : store_(store), most_(most), thread_([this] { run(); }) {}

PresenceWatch::~PresenceWatch() {
  stop();
  thread_.join();
}

void PresenceWatch::stop() noexcept {
  {
    const std::lock_guard lock(mutex_);
    is_over_ = true;
  }
  changed_.notify_all();
}

void PresenceWatch::set_epoch(const Epoch& epoch, std::set<int> ignored,
                              const std::optional<Presence>& presence) {
  const std::lock_guard lock(mutex_);
  members_.clear();
  for (const Seat& seat : epoch.seats()) members_.insert(seat.worker);
  ignored_ = std::move(ignored);
  if (presence) presence_ = *presence;
  decide();
}

void PresenceWatch::decide() {
  const int size = static_cast<int>(members_.size());
  const int room = std::clamp(presence_.wanted.value_or(most_), 1, most_);
  const bool has_waiting =
      std::any_of(presence_.workers.begin(), presence_.workers.end(), [&](const auto& entry) {
        return !members_.contains(entry.first) && !ignored_.contains(entry.first);
      });
  const bool is_wanted = size > 0 && ((has_waiting && size < room) || size > room);
  is_wanted_.store(is_wanted, std::memory_order_relaxed);
  if (is_wanted) changed_.notify_all();
}

bool PresenceWatch::wait_until_wanted(Deadline deadline) {
  std::unique_lock lock(mutex_);
  const auto is_wanted = [&] { return is_change_wanted(); };
  if (deadline.is_never()) {
    changed_.wait(lock, is_wanted);
    return true;
  }
  return changed_.wait_until(lock, deadline.when(), is_wanted);
}

void PresenceWatch::post_chores(std::uint64_t number, std::uint64_t reports_from,
                                std::set<int> dead) {
  const std::lock_guard lock(mutex_);
  chores_ = Chores{number, reports_from, std::move(dead)};
}

void PresenceWatch::run() noexcept {
  for (;;) {
    try {
      follow();
    } catch (const std::exception&) {
      // A store that is gone, slow or full: it may come back.
    }
    std::unique_lock lock(mutex_);
    if (changed_.wait_for(lock, kAgain, [&] { return is_over_; })) return;
  }
}

void PresenceWatch::follow() {
  const std::unique_ptr<Watch> watch = store_.watch(kPresencePrefix, Deadline::after(kLook));
  {
    const std::lock_guard lock(mutex_);
    presence_ = {};
  }
  for (;;) {
    std::optional<StoreChange> change;
    try {
      change = watch->next(Deadline::after(kLook));
    } catch (const Error& error) {
      if (error.code() != ErrorCode::Deadline) throw;
    }
    {
      const std::lock_guard lock(mutex_);
      if (is_over_) return;
      if (change) note(presence_, change->key, change->value ? &*change->value : nullptr);
      decide();
    }
    do_chores();
  }
}

void PresenceWatch::do_chores() {
  std::optional<Chores> chores;
  {
    const std::lock_guard lock(mutex_);
    chores = std::exchange(chores_, std::nullopt);
    if (!chores) return;
    std::erase_if(chores->dead, [&](int worker) { return !presence_.workers.contains(worker); });
  }
  for (const int worker : chores->dead) {
    store_.erase(worker_key(worker), Deadline::after(kLook));
  }
  const std::string newest = std::to_string(chores->newest);
  store_.set(kNewestKey, bytes_of(newest), Deadline::after(kLook));
  for (const StoreChange& entry : store_.list("report/", Deadline::after(kLook))) {
    const std::string_view rest = std::string_view(entry.key).substr(7);
    const auto number = number_in(bytes_of(rest.substr(0, rest.find('/'))));
    if (number && *number < chores->reports_from) store_.erase(entry.key, Deadline::after(kLook));
  }
}

}  // namespace trireme::cluster::membership
