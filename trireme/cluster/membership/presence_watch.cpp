#include "trireme/cluster/membership/presence_watch.h"

#include <algorithm>
#include <chrono>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "trireme/base/error.h"
#include "trireme/cluster/store_call.h"

namespace trireme::cluster::membership {
namespace {

using namespace std::chrono_literals;

constexpr auto kLook = 500ms;        // how soon the thread notices that it should end
constexpr Duration kLookFar = 50ms;  // where heartbeats are to be sent and missed
constexpr auto kAgain = 100ms;       // between two attempts to reach a store that is gone

}  // namespace

PresenceWatch::PresenceWatch(Options options)
    : options_(std::move(options)), far_(options_.heartbeat.timeout), thread_([this] { run(); }) {}

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

void PresenceWatch::set_epoch(const Epoch& epoch, std::set<int> ignored, const std::set<int>& far,
                              const std::optional<Presence>& presence) {
  const std::lock_guard lock(mutex_);
  members_.clear();
  for (const Seat& seat : epoch.seats()) members_.insert(seat.worker);
  ignored_ = std::move(ignored);
  far_.set_members(far, steady_clock().now());
  // The watch has everything in its order; a list may be older than what it showed since.
  if (presence && !is_shown_) presence_ = *presence;
  miss_absent();
  decide();
}

void PresenceWatch::add_far(const std::set<int>& workers) {
  const std::lock_guard lock(mutex_);
  far_.add_members(workers, steady_clock().now());
  miss_absent();
}

// Whose record went before anybody watched for it.
void PresenceWatch::miss_absent() {
  if (is_listed_) far_.miss_absent(presence_.workers, steady_clock().now());
}

void PresenceWatch::decide() {
  const int size = static_cast<int>(members_.size());
  const int room = std::clamp(presence_.wanted.value_or(options_.most), 1, options_.most);
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
    } catch (const Error& error) {
      // One that is slow or full, or gone for a while, comes back.
      if (error.code() == ErrorCode::PeerLost && is_lease_over()) {
        options_.on_lease_over(error.message());
      }
    } catch (const std::exception&) {
      // Such as no memory; it may be there again.
    }
    std::unique_lock lock(mutex_);
    if (changed_.wait_for(lock, kAgain, [&] { return is_over_; })) return;
  }
}

void PresenceWatch::follow() {
  const std::unique_ptr<Watch> watch =
      options_.store->watch(kPresencePrefix, Deadline::after(kLook));
  {
    const std::lock_guard lock(mutex_);
    presence_ = {};
    far_.restart(steady_clock().now());
    is_shown_ = is_listed_ = false;
  }
  // After a store that was gone all have to come back first: their heartbeats tell.
  bool is_first = !std::exchange(has_followed_, true);
  for (;;) {
    std::optional<StoreChange> change;
    try {
      change = watch->next(Deadline::after(look_period()));
    } catch (const Error& error) {
      if (error.code() != ErrorCode::Deadline) throw;
    }
    {
      const std::lock_guard lock(mutex_);
      if (is_over_) return;
      if (!change) is_shown_ = true;
      if (!change && std::exchange(is_first, false)) {
        is_listed_ = true;
        miss_absent();
      }
      if (change) {
        note(presence_, change->key, change->value ? &*change->value : nullptr);
        far_.note(change->key, change->value.has_value(), steady_clock().now());
      }
      decide();
    }
    say_well();
    tell_lost();
    do_chores();
  }
}

Duration PresenceWatch::look_period() {
  const std::lock_guard lock(mutex_);
  return far_.has_members() ? kLookFar : Duration(kLook);
}

void PresenceWatch::say_well() {
  const TimePoint now = steady_clock().now();
  {
    const std::lock_guard lock(mutex_);
    const bool is_due = now - said_well_ >= options_.heartbeat.interval;
    if (!far_.has_members() || !is_due || options_.heartbeat.timeout.count() == 0) return;
  }
  said_well_ = now;
  options_.store->set(well_key(options_.worker), bytes_of(std::to_string(++beats_)),
                      Deadline::after(kLook), Lifetime::Session);
}

// Members on other hosts may have gone on without us.
bool PresenceWatch::is_lease_over() {
  {
    const std::lock_guard lock(mutex_);
    if (is_over_ || !far_.has_members()) return false;
  }
  return is_gone(*options_.store, Deadline::after(kLook));
}

void PresenceWatch::tell_lost() {
  std::vector<FarWatch::Lost> lost;
  {
    const std::lock_guard lock(mutex_);
    lost = far_.lost(steady_clock().now());
  }
  const auto is_missed = [](const FarWatch::Lost& one) { return !one.is_silent; };
  std::optional<std::set<int>> there;
  if (std::any_of(lost.begin(), lost.end(), is_missed)) there = recorded();
  for (const FarWatch::Lost& one : lost) {
    if (one.is_silent || (there && !there->contains(one.worker))) {
      options_.on_lost(one.worker, one.cause);
      continue;
    }
    const std::lock_guard lock(mutex_);
    far_.take_back(one.worker, there.has_value());
  }
}

// Who has a record: the store has the last word, because whoever was taken in by others may not
// have been shown to this worker yet. Nothing where it does not answer.
std::optional<std::set<int>> PresenceWatch::recorded() {
  try {
    std::set<int> workers;
    for (const StoreChange& entry : options_.store->list(kWorkerPrefix, Deadline::after(kLook))) {
      if (const std::optional<int> worker = worker_in(entry.key)) workers.insert(*worker);
    }
    return workers;
  } catch (const Error&) {
    return std::nullopt;
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
    options_.store->erase(worker_key(worker), Deadline::after(kLook));
  }
  Store& store = *options_.store;
  const std::string newest = std::to_string(chores->newest);
  store.set(kNewestKey, bytes_of(newest), Deadline::after(kLook));
  for (const StoreChange& entry : store.list("report/", Deadline::after(kLook))) {
    const std::string_view rest = std::string_view(entry.key).substr(7);
    const auto number = number_in(bytes_of(rest.substr(0, rest.find('/'))));
    if (number && *number < chores->reports_from) store.erase(entry.key, Deadline::after(kLook));
  }
}

}  // namespace trireme::cluster::membership
