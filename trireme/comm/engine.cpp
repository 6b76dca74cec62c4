#include "trireme/comm/engine.h"

#include <algorithm>
#include <thread>
#include <utility>

#include "trireme/comm/backend.h"

namespace trireme::comm {
namespace {

// Sleeps are limited to this duration, so that deadlines and announced failures are noticed even if
// a wake-up were lost.
constexpr Duration kSleepSlice = std::chrono::milliseconds(20);
// The engine can sleep in only one source; with several, the others are polled this often.
constexpr Duration kSharedSlice = std::chrono::microseconds(200);
// A second waiting thread is woken by the first, but an abort may come while neither is checking.
constexpr Duration kSecondSlice = std::chrono::milliseconds(5);
// Much data may be queued in front of an announcement; a caller of look() also has other things to
// do.
constexpr int kTurnsPerFlush = 64;
// Number of polls, or moves, between two reads of the clock.
constexpr int kPollsPerLook = 64;

void relax() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#endif
}

Error convert(const std::exception& thrown) {
  if (const auto* error = dynamic_cast<const Error*>(&thrown)) return *error;
  return Error(ErrorCode::RemoteFailure, thrown.what());
}

// Every member notices late ranks by itself. Any other error of an operation is known only to this
// rank, and the others would wait for it.
bool concerns_others(const Error& error) {
  return error.code() != ErrorCode::Deadline;
}

}  // namespace

std::optional<Error> Fate::get() const {
  if (!is_sealed()) return std::nullopt;
  std::lock_guard lock(mutex_);
  return error_;
}

bool Fate::seal(const Error& first) {
  std::lock_guard lock(mutex_);
  if (error_) return false;
  error_ = first;
  sealed_.store(true, std::memory_order_release);
  return true;
}
void Engine::start(std::shared_ptr<Activity> activity) {
  const std::unique_lock lock = seek_lock();
  activity->started = steady_clock().now();
  for (const int rank : departed_) activity->backend->depart(rank);
  // Called here, under the lock, because backends count the operations they are given, and another
  // thread may be running earlier operations of the same group.
  if (activity->task.is_done()) activity->task = activity->backend->run(activity->op);
  if (move(*activity) == Task::Step::Done) return;
  const auto later = [&](const auto& other) { return other->op.priority < activity->op.priority; };
  active_.insert(std::find_if(active_.begin(), active_.end(), later), activity);
}

bool Engine::test(Activity& activity) {
  std::unique_lock lock(mutex_, std::try_to_lock);
  if (!lock.owns_lock()) return false;
  if (!activity.done) progress();
  if (!activity.done) look(steady_clock().now());
  return activity.done;
}

// The thread that makes progress holds the lock while operations move and yields to threads that
// request it.
std::unique_lock<std::mutex> Engine::seek_lock() {
  ++seekers_;
  std::unique_lock lock(mutex_);
  --seekers_;
  return lock;
}

void Engine::set_deadline(Activity& activity, Deadline deadline) {
  const std::unique_lock lock = seek_lock();
  activity.op.deadline = deadline;
  activity.started = steady_clock().now();
}

void Engine::wait(Activity& activity) {
  std::unique_lock lock = seek_lock();
  TimePoint spin_until = steady_clock().now() + options_.spin;
  int polls = 0, moves = 0;
  while (!activity.done) {
    if (activity.fate->is_sealed()) {
      look_at(activity, steady_clock().now());
      continue;
    }
    if (progress()) {
      polls = 0;
      spin_until = TimePoint::max();
      if (++moves % kPollsPerLook == 0) look(steady_clock().now());
      if (seekers_.load(std::memory_order_relaxed) != 0) {
        lock.unlock();
        std::this_thread::yield();
        lock.lock();
      }
      continue;
    }
    if (++polls < kPollsPerLook) {
      relax();
      continue;
    }
    polls = 0;
    const TimePoint now = steady_clock().now();
    if (spin_until == TimePoint::max()) spin_until = now + options_.spin;
    look(now);
    if (activity.done || now < spin_until) continue;
    sleep(lock, *activity.fate, std::min(kSleepSlice, activity.op.deadline.remaining()));
    spin_until = TimePoint::max();
  }
  if (options_.liveness) options_.liveness->move();
  if (!activity.error) return;
  // Cancelling the operation's transfers has moved the announcement to the front of the send queue.
  flush();
  throw *activity.error;
}

// Returns true if there was progress. REQUIRES: the caller holds the lock.
bool Engine::progress() {
  bool moved = false;
  for (const auto& source : sources_) moved |= source->poll();
  for (std::size_t i = 0; i < active_.size();) {
    const auto activity = active_[i];
    const Task::Step step = move(*activity);
    moved |= step != Task::Step::Waiting;
    if (step == Task::Step::Done) {
      active_.erase(active_.begin() + static_cast<std::ptrdiff_t>(i));
    } else {
      ++i;
    }
  }
  if (moved && someone_sleeps_) moved_.notify_all();
  return moved;
}

Task::Step Engine::move(Activity& activity) {
  if (activity.done) return Task::Step::Done;
  try {
    const Task::Step step = activity.task.step();
    if (step == Task::Step::Done) finish(activity, std::nullopt);
    return step;
  } catch (const std::exception& thrown) {
    const Error error = convert(thrown).with_rank(activity.backend->job_rank());
    const bool is_named = !error.operation().empty();
    const Error named = is_named ? error : error.with_operation(activity.op.name());
    if (activity.fate->seal(named) && concerns_others(named)) {
      activity.backend->announce(named);
    }
    finish(activity, activity.fate->get());
    return Task::Step::Done;
  }
}

void Engine::finish(Activity& activity, std::optional<Error> error) {
  const bool has_failed = error.has_value();
  activity.error = std::move(error);
  activity.task = Task();
  activity.done = true;
  if (has_failed) activity.backend->give_up();
}

// Checks all operations in flight: the one that is waited for may be blocked by another whose
// deadline comes first. Operations that end here are removed from the list by the next progress().
void Engine::look(TimePoint now) {
  for (std::size_t i = 0; i < active_.size(); ++i) {
    if (!active_[i]->done) look_at(*active_[i], now);
  }
}

std::optional<Error> Engine::find_failure(Activity& activity, TimePoint now) {
  if (auto known = activity.fate->get()) return known;
  if (auto failure = activity.backend->failure()) return failure;
  if (const auto loss = activity.backend->loss()) {
    // The peer that broke the connection may have told others why, and their announcement may be
    // unread.
    for (const auto& source : sources_) source->poll();
    if (auto failure = activity.backend->failure()) return failure;
    if (activity.fate->seal(*loss)) activity.backend->announce(*loss);
    return activity.fate->get();
  }
  if (now < activity.op.deadline.when()) return std::nullopt;
  const Error late = activity.backend->stalled(activity.op, now - activity.started);
  return options_.on_late ? options_.on_late(late) : late;
}

// Ends the operation and its whole group if the group failed on another rank or the deadline
// passed.
void Engine::look_at(Activity& activity, TimePoint now) {
  std::optional<Error> error = find_failure(activity, now);
  if (!error) return;
  activity.fate->seal(*error);
  error = activity.fate->get();
  for (const auto& other : active_) {
    if (other->fate == activity.fate && !other->done) finish(*other, error);
  }
  finish(activity, error);
}

void Engine::sleep(std::unique_lock<std::mutex>& lock, const Fate& fate, Duration longest) {
  if (someone_sleeps_) {
    const Liveness::Waiting waiting(options_.liveness.get());
    moved_.wait_for(lock, std::min(longest, kSecondSlice));
    return;
  }
  if (sources_.empty()) return;
  someone_sleeps_ = true;
  for (const auto& source : sources_) source->prepare_sleep();
  // An abort before prepare_sleep() does not wake this thread, so check again.
  if (!progress() && !fate.is_sealed()) {
    const auto sleeper = sources_.front();
    const Duration slice = sources_.size() == 1 ? longest : std::min(longest, kSharedSlice);
    lock.unlock();
    {
      // Only the sleep counts as waiting, not the whole wait(): a rank that is stuck in its own
      // part of a collective is not waiting for others.
      const Liveness::Waiting waiting(options_.liveness.get());
      sleeper->sleep(slice);
    }
    lock.lock();
  }
  for (const auto& source : sources_) source->finish_sleep();
  someone_sleeps_ = false;
  moved_.notify_all();
}

bool Engine::concerns(const std::vector<int>& members, int lost) const {
  return options_.shares_fate || std::find(members.begin(), members.end(), lost) != members.end();
}

void Engine::adopt(const std::shared_ptr<Fate>& fate, std::vector<int> job_ranks) {
  std::lock_guard lock(adopted_mutex_);
  std::erase_if(adopted_, [](const Adopted& adopted) { return adopted.fate.expired(); });
  for (const auto& [rank, error] : lost_) {
    if (concerns(job_ranks, rank)) fate->seal(error);
  }
  adopted_.push_back({fate, std::move(job_ranks)});
}

void Engine::lose(int job_rank, const Error& error) {
  std::vector<std::shared_ptr<Fate>> lost;
  {
    std::lock_guard lock(adopted_mutex_);
    lost_.emplace(job_rank, error);
    for (const Adopted& adopted : adopted_) {
      if (!concerns(adopted.job_ranks, job_rank)) continue;
      if (auto fate = adopted.fate.lock()) lost.push_back(std::move(fate));
    }
  }
  for (const auto& fate : lost) abort(*fate, error);
}

void Engine::announce(Backend& backend, const Error& error) {
  const std::unique_lock lock = seek_lock();
  backend.announce(error);
}

void Engine::hear(Backend& backend, Fate& fate) {
  std::unique_lock lock(mutex_, std::try_to_lock);
  if (!lock.owns_lock()) return;  // the thread that holds the lock receives announcements
  flush();
  if (const std::optional<Error> failure = backend.failure()) abort(fate, *failure);
}

// Reads and writes as much as the sources accept now. REQUIRES: the caller holds the lock.
void Engine::flush() {
  for (int turn = 0; turn < kTurnsPerFlush; ++turn) {
    bool has_moved = false;
    for (const auto& source : sources_) has_moved |= source->poll();
    if (!has_moved) return;
  }
}

void Engine::give_up(Backend& backend) {
  const std::unique_lock lock = seek_lock();
  backend.give_up();
}

void Engine::depart(int job_rank) {
  const std::unique_lock lock = seek_lock();
  departed_.insert(job_rank);
  for (const auto& activity : active_) activity->backend->depart(job_rank);
}

void Engine::abort(Fate& fate, const Error& error) {
  fate.seal(error);
  for (const auto& source : sources_) source->wake();
  moved_.notify_all();
}

}  // namespace trireme::comm
