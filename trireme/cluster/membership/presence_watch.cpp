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

constexpr auto kLook = 500ms;        // how soon the thread notices that it should end
constexpr Duration kLookFar = 50ms;  // if the grace period of a missing record has to be measured
constexpr Duration kRecordLook = 1s;
constexpr Duration kLeftOutMax = 2s;  // time for a worker that was left out of an epoch to end by
                                      // itself
constexpr auto kAgain = 100ms;        // between two attempts to reach a store that is gone

}  // namespace

PresenceWatch::PresenceWatch(Options options)
    : options_(std::move(options)),
      far_(options_.heartbeat.timeout, options_.grace),
      thread_([this] { run(); }) {}

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
  epoch_ = epoch.number();
  for (const int worker : members_) {
    if (options_.stalls && !epoch.contains(worker)) options_.stalls->forget(worker);
  }
  members_.clear();
  for (const EpochMember& entry : epoch.members()) members_.insert(entry.worker);
  ignored_ = std::move(ignored);
  far_.set_members(far, steady_clock().now());
  // The watch reports changes in order; a list may be older than what the watch has reported since.
  if (presence && !is_shown_) presence_ = *presence;
  miss_absent();
  decide();
}

void PresenceWatch::add_far(const std::set<int>& workers) {
  const std::lock_guard lock(mutex_);
  far_.add_members(workers, steady_clock().now());
  miss_absent();
}

// Handles members whose records were gone before the watch started.
void PresenceWatch::miss_absent() {
  if (is_listed_) far_.miss_absent(presence_.workers, steady_clock().now());
}

void PresenceWatch::decide() {
  const int size = static_cast<int>(members_.size());
  const int room = std::clamp(presence_.wanted.value_or(options_.most), 1, options_.most);
  const auto has_waiting = [&] {
    return std::any_of(presence_.workers.begin(), presence_.workers.end(), [&](const auto& entry) {
      return !members_.contains(entry.first) && !ignored_.contains(entry.first);
    });
  };
  const bool is_wanted = size > 0 && (size > room || (size < room && has_waiting()));
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
      // A store that is slow, full, or gone for a while will come back.
      if (error.code() == ErrorCode::PeerLost && is_lease_over()) {
        return options_.on_lease_over(error.message());
      }
    } catch (const std::exception&) {
      // Such as an allocation failure, which may be temporary.
    }
    std::unique_lock lock(mutex_);
    if (changed_.wait_for(lock, kAgain, [&] { return is_over_; })) return;
  }
}

void PresenceWatch::follow() {
  const std::string_view prefix = options_.duties ? kWorkerPrefix : kPresencePrefix;
  const std::unique_ptr<Watch> watch = options_.store->watch(prefix, Deadline::after(kLook));
  {
    const std::lock_guard lock(mutex_);
    presence_ = {};
    far_.restart(steady_clock().now());
    is_shown_ = is_listed_ = false;
  }
  try {
    follow(*watch);
  } catch (const Error&) {
    read_rest(*watch);
    throw;
  }
}

void PresenceWatch::follow(Watch& watch) {
  // If sessions return after the store was gone, all workers have to write their records again
  // first; until then only their heartbeats count.
  bool is_first = !std::exchange(has_followed_, true) || options_.grace.count() == 0;
  for (;;) {
    std::optional<StoreChange> change;
    try {
      change = watch.next(Deadline::after(look_period()));
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
      if (change) note_change(*change);
      decide();
    }
    if (change && options_.liveness && options_.stalls) tell_stuck(*change);
    // Many records and heartbeats come at a time.
    const bool is_news = !change || !change->value || ended_worker_in(change->key);
    const TimePoint now = steady_clock().now();
    if (!is_news && now - looked_ < kLookFar) continue;
    looked_ = now;
    beat();
    tell_lost();
    end_if_left_out();
    do_chores();
  }
}

void PresenceWatch::note_change(const StoreChange& change) {
  const Bytes* value = change.value ? &*change.value : nullptr;
  note(presence_, change.key, value);
  far_.note(change.key, value, steady_clock().now());
}

// Before the server ended, workers may have left.
void PresenceWatch::read_rest(Watch& watch) noexcept {
  try {
    for (;;) {
      const StoreChange change = watch.next(Deadline::after(Duration::zero()));
      const std::lock_guard lock(mutex_);
      note_change(change);
    }
  } catch (const std::exception&) {
    // There are no more.
  }
  std::vector<FarWatch::Lost> lost;
  {
    const std::lock_guard lock(mutex_);
    if (!is_over_) lost = far_.lost(steady_clock().now());
  }
  for (const FarWatch::Lost& one : lost) {
    if (one.sign == FarWatch::Sign::End) options_.on_lost(one.end);
  }
}

bool PresenceWatch::must_say_well() const {
  return options_.heartbeat.interval.count() > 0 && (far_.has_members() || members_.size() == 1);
}

Duration PresenceWatch::look_period() {
  const std::lock_guard lock(mutex_);
  if (far_.has_members() && options_.grace.count() > 0) return kLookFar;
  return must_say_well() ? std::min<Duration>(kLook, options_.heartbeat.interval) : kLook;
}

// Heartbeats in both directions, and news for the others. If the store is slow, no silence counts.
void PresenceWatch::beat() {
  const TimePoint now = steady_clock().now();
  bool is_due = now - beaten_ >= options_.heartbeat.interval;
  {
    const std::lock_guard lock(mutex_);
    is_due = is_due && must_say_well();
  }
  try {
    tell_others();
    if (!is_due) return;
    beaten_ = now;
    say_well();
    if (options_.duties) check_duties();
  } catch (const Error& error) {
    if (error.code() != ErrorCode::Deadline) throw;
    const std::lock_guard lock(mutex_);
    far_.forgive(steady_clock().now());
  }
}

void PresenceWatch::say_well() {
  const auto report = options_.liveness ? options_.liveness->report() : Liveness::Report{};
  options_.store->set(well_key(options_.worker), bytes_of(well_text(++beats_, report)),
                      Deadline::after(kLook), Lifetime::Session);
}

// A worker beside this one that shares memory with all others sends no heartbeats, also if this one
// could not map its memory.
void PresenceWatch::check_duties() {
  std::map<int, Bytes> values;
  std::set<int> heard;
  for (const Duty& duty : options_.duties()) {
    auto value = options_.store->get(well_key(duty.worker), Deadline::after(kLook));
    if (value || !duty.is_beside) heard.insert(duty.worker);
    if (value) values.emplace(duty.worker, *std::move(value));
  }
  const std::lock_guard lock(mutex_);
  far_.listen_to(heard, steady_clock().now());
  for (const auto& [worker, value] : values) {
    if (heard_[worker] == value) continue;
    heard_[worker] = value;
    far_.note(well_key(worker), &value, steady_clock().now());
  }
}

// The members on other hosts may learn only by this that a worker is dead, and so may a worker that
// was frozen and is wrongly taken for dead.
void PresenceWatch::tell_others() {
  if (options_.take_detected) {
    for (WorkerEnd& end : options_.take_detected()) detected_.push_back(std::move(end));
  }
  {
    const std::lock_guard lock(mutex_);
    if (!far_.has_members()) detected_.clear();
  }
  for (; !detected_.empty(); detected_.pop_back()) {
    const WorkerEnd& end = detected_.back();
    options_.store->compare_and_set(end_key(end.worker), std::nullopt, encode(end),
                                    Deadline::after(kLook));
  }
}

// Evaluates the progress report of a member on another host.
void PresenceWatch::tell_stuck(const StoreChange& change) {
  const std::optional<int> worker = worker_in(change.key);
  if (!worker || !change.value || change.key != well_key(*worker)) return;
  const std::optional<Liveness::Report> report = report_in_well(*change.value);
  if (!report) return;
  {
    const std::lock_guard lock(mutex_);
    if (!far_.has_member(*worker)) return;
  }
  const std::optional<std::string> why =
      options_.stalls->look(*worker, *report, options_.liveness->report(), steady_clock().now());
  if (why) options_.on_lost({*worker, *why});
}

// Other members erase the record of a worker that they continue without. Returns the number of an
// epoch that leaves this worker out.
std::optional<std::uint64_t> PresenceWatch::epoch_without_us() {
  std::uint64_t own = 0;
  {
    const std::lock_guard lock(mutex_);
    if (!is_shown_ || presence_.workers.contains(options_.worker)) return std::nullopt;
    own = epoch_;
  }
  Store& store = *options_.store;
  const auto newest = store.get(kNewestKey, Deadline::after(kLook));
  const std::uint64_t number = newest ? number_in(*newest).value_or(0) : 0;
  if (own == 0 || number <= own) return std::nullopt;
  const auto bytes = store.get(epoch_key(number), Deadline::after(kLook));
  if (!bytes) return std::nullopt;
  const Epoch epoch = decode_epoch(*bytes);
  const bool is_known = epoch.contains(options_.worker) || epoch.has_dismissed(options_.worker);
  return is_known ? std::nullopt : std::optional(number);
}

// A worker that still makes progress finds out in its training loop, and ends by itself.
void PresenceWatch::end_if_left_out() {
  if (!options_.liveness) return;
  const TimePoint now = steady_clock().now();
  const std::uint64_t moves = options_.liveness->report().moves;
  if (!left_out_) {
    if (now - looked_for_record_ < kRecordLook) return;
    looked_for_record_ = now;
    if (const auto epoch = epoch_without_us()) left_out_ = {*epoch, now, moves};
    return;
  }
  if (moves != left_out_->moves) left_out_ = {left_out_->epoch, now, moves};
  if (now - left_out_->since < kLeftOutMax) return;
  options_.on_lease_over("epoch " + std::to_string(left_out_->epoch) + " goes on without worker " +
                         std::to_string(options_.worker) + ", which makes no progress");
}

// Members on other hosts may have continued without this worker.
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
  for (const FarWatch::Lost& one : lost) {
    const int worker = one.end.worker;
    const auto is_there =
        one.sign == FarWatch::Sign::NoRecord ? has_record(worker) : std::optional(false);
    if (is_there == false) {
      options_.on_lost(one.end);
      if (options_.stalls) options_.stalls->forget(worker);
      if (one.sign == FarWatch::Sign::NoHeartbeat) detected_.push_back(one.end);
      continue;
    }
    const std::lock_guard lock(mutex_);
    far_.take_back(worker, is_there.has_value());
  }
}

// The store is authoritative, because the watch may not have reported yet a worker that others
// admitted. Returns nothing if the store does not answer.
std::optional<bool> PresenceWatch::has_record(int worker) {
  try {
    return options_.store->get(worker_key(worker), Deadline::after(kLook)).has_value();
  } catch (const Error&) {
    return std::nullopt;
  }
}

void PresenceWatch::do_chores() {
  std::optional<Chores> chores;
  {
    const std::lock_guard lock(mutex_);
    chores = chores_;
  }
  if (!chores) return;
  Store& store = *options_.store;
  const std::string newest = std::to_string(chores->newest);
  store.set(kNewestKey, bytes_of(newest), Deadline::after(kLook));
  // After the newest epoch was written: a worker that sees that its own record was erased looks
  // there.
  for (const int worker : chores->dead) {
    if (erased_.contains(worker)) continue;
    store.erase(worker_key(worker), Deadline::after(kLook));
    store.erase(end_key(worker), Deadline::after(kLook));
    erased_.insert(worker);
  }
  for (const StoreChange& entry : store.list("report/", Deadline::after(kLook))) {
    const std::string_view rest = std::string_view(entry.key).substr(7);
    const auto number = number_in(bytes_of(rest.substr(0, rest.find('/'))));
    if (number && *number < chores->reports_from) store.erase(entry.key, Deadline::after(kLook));
  }
  // What a slow store interrupted is done again, unless there is a newer epoch to do it for.
  const std::lock_guard lock(mutex_);
  if (chores_ && chores_->newest == chores->newest) chores_.reset();
}

}  // namespace trireme::cluster::membership
