// Engine runs the operations of one rank. All groups of a rank share one engine, so waiting for one
// operation makes progress on all others too.
//
// The engine owns no thread. It makes progress inside wait(), in test() and when a new operation
// starts: if all cores of a machine are busy computing, a helper thread would only slow them down.
//
// Waiting:       spins for `spin` while progress is likely, then sleeps in the progress sources. A
//                peer's progress, an abort or the deadline ends the sleep.
// Thread safety: any thread may start, wait for, test or abort; one thread at a time makes
//                progress.

#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "trireme/base/clock.h"
#include "trireme/base/deadline.h"
#include "trireme/base/error.h"
#include "trireme/base/liveness.h"
#include "trireme/comm/operation.h"
#include "trireme/comm/task.h"

namespace trireme::comm {

class Backend;

// An external source of progress: sockets, or a doorbell in shared memory.
class ProgressSource {
 public:
  virtual ~ProgressSource() = default;
  // Makes progress without blocking; returns true if there was any.
  virtual bool poll() = 0;
  // Must be called before the last check of the conditions. The sleep that follows ends at once if
  // anything has happened since this call.
  virtual void prepare_sleep() = 0;
  virtual void sleep(Duration longest) = 0;
  virtual void finish_sleep() = 0;
  // Ends a sleep. Thread safety: any thread.
  virtual void wake() noexcept = 0;
};

// The final state that all operations of one group share: the group's first error.
class Fate {
 public:
  bool is_sealed() const noexcept { return sealed_.load(std::memory_order_acquire); }
  std::optional<Error> get() const;
  // Returns true if this was the first error; later errors are ignored.
  bool seal(const Error& first);

 private:
  mutable std::mutex mutex_;
  std::atomic<bool> sealed_{false};
  std::optional<Error> error_;
};

struct Activity {
  Operation op;
  std::shared_ptr<Backend> backend;
  std::shared_ptr<Fate> fate;
  Task task;
  TimePoint started{};
  bool done = false;
  std::optional<Error> error;
};

class Engine {
 public:
  struct Options {
    std::chrono::microseconds spin{50};
    bool shares_fate = false;  // a lost rank ends all groups, not only those it is a member of
    std::shared_ptr<Liveness> liveness{};  // notified of waits; may be null
    // Returns the error for an operation that reached its deadline; if empty, `late` itself is
    // used. Called while the engine is locked, so it must not start an operation or wait for one.
    std::function<Error(const Error& late)> on_late{};
  };

  explicit Engine(Options options) : options_(std::move(options)) {}

  // Must be called before the first operation; not thread-safe.
  void add_source(std::shared_ptr<ProgressSource> source) { sources_.push_back(std::move(source)); }
  // REQUIRES: no operation is in flight.
  void set_spin(std::chrono::microseconds spin) noexcept { options_.spin = spin; }

  // Starts the operation and runs it as far as possible without waiting. If the activity has no
  // task, the backend creates it.
  void start(std::shared_ptr<Activity> activity);
  // Errors: throws the operation's error.
  void wait(Activity& activity);
  // Counts the time of the operation from now.
  void set_deadline(Activity& activity, Deadline deadline);
  bool test(Activity& activity);
  // Ends all operations in flight of that fate with this error and wakes the waiting threads.
  void abort(Fate& fate, const Error& error);

  // Reports the error to the other members of the backend's group. Serialized with all other uses
  // of the transport.
  void announce(Backend& backend, const Error& error);

  // Makes progress on pending messages and receives the group's announcements, without waiting for
  // an operation.
  void hear(Backend& backend, Fate& fate);

  // The group has ended on this rank because of a failure.
  void give_up(Backend& backend);

  // Registers a group with these job ranks, so that lose() can end it.
  void adopt(const std::shared_ptr<Fate>& fate, std::vector<int> job_ranks);
  // A rank of the job is lost: aborts every group that contains it, including groups created later.
  void lose(int job_rank, const Error& error);
  // A rank of the job has left normally: operations that wait for it end, and operations that it
  // has completed stay complete.
  void depart(int job_rank);

 private:
  std::unique_lock<std::mutex> seek_lock();
  bool concerns(const std::vector<int>& members, int lost) const;
  bool progress();
  void flush();
  Task::Step move(Activity& activity);
  void finish(Activity& activity, std::optional<Error> error);
  void look(TimePoint now);
  void look_at(Activity& activity, TimePoint now);
  std::optional<Error> find_failure(Activity& activity, TimePoint now);
  void sleep(std::unique_lock<std::mutex>& lock, const Fate& fate, Duration longest);

  Options options_;
  std::mutex mutex_;
  std::vector<std::shared_ptr<ProgressSource>> sources_;
  std::vector<std::shared_ptr<Activity>> active_;  // highest priority first, then oldest
  std::condition_variable moved_;
  // Threads that wait for the lock while another thread makes progress.
  std::atomic<int> seekers_{0};
  bool someone_sleeps_ = false;
  std::set<int> departed_;  // by job rank

  struct Adopted {
    std::weak_ptr<Fate> fate;
    std::vector<int> job_ranks;
  };
  std::mutex adopted_mutex_;
  std::vector<Adopted> adopted_;
  std::map<int, Error> lost_;  // by job rank; a group that contains one of these cannot continue
};

}  // namespace trireme::comm
