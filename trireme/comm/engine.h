// Engine moves the operations of one rank: all groups of the rank share one, so that waiting for
// any operation also moves every other.
//
// It owns no thread. Progress is made inside wait(), in test() and when a new operation starts:
// a helper thread on a machine whose cores all compute would only steal from them.
//
// Waiting: spins for `spin` while progress is likely, then sleeps in the sources, which any
//          peer's progress, an abort or the deadline ends.
// Threads: any thread may start, wait for, test or abort; one at a time makes progress.

#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <vector>

#include "trireme/base/clock.h"
#include "trireme/base/deadline.h"
#include "trireme/base/error.h"
#include "trireme/comm/operation.h"
#include "trireme/comm/task.h"

namespace trireme::comm {

class Backend;

// Something that can bring progress from outside: sockets, or a doorbell in shared memory.
class ProgressSource {
 public:
  virtual ~ProgressSource() = default;
  // Moves what can be moved without blocking; true when anything moved.
  virtual bool poll() = 0;
  // Call before a last look at the conditions; the sleep that follows ends at once if anything
  // has happened since.
  virtual void prepare_sleep() = 0;
  virtual void sleep(Duration longest) = 0;
  virtual void finish_sleep() = 0;
  // Ends a sleep, from any thread.
  virtual void wake() noexcept = 0;
};

// The fate that the operations of one group share: its first error.
class Fate {
 public:
  bool is_sealed() const noexcept { return sealed_.load(std::memory_order_acquire); }
  std::optional<Error> get() const;
  // True if this was the first; later ones change nothing.
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
    bool shares_fate = false;  // whoever is lost ends all groups, not only its own
  };

  explicit Engine(Options options) : options_(options) {}

  // Before the first operation; not thread-safe against anything else.
  void add_source(std::shared_ptr<ProgressSource> source);
  // While nothing is in flight.
  void set_spin(std::chrono::microseconds spin) noexcept { options_.spin = spin; }

  // Starts at once, as far as it gets without waiting. Without a task, that of the backend.
  void start(std::shared_ptr<Activity> activity);
  // Throws the operation's error, if it has one.
  void wait(Activity& activity);
  bool test(Activity& activity);
  // Ends everything in flight of that fate with the error; wakes whoever waits.
  void abort(Fate& fate, const Error& error);

  // Tells the other members of the backend's group, in turn with whatever else uses its transport.
  void announce(Backend& backend, const Error& error);

  // Moves what lies on the way, and hears what others have announced of the group, without an
  // operation to wait for.
  void hear(Backend& backend, Fate& fate);

  // The group is over on this rank and did not end well.
  void give_up(Backend& backend);

  // A group whose members have these ranks in the job, for lose().
  void adopt(const std::shared_ptr<Fate>& fate, std::vector<int> job_ranks);
  // A rank of the job is gone: aborts every group that it is in, also those made later.
  void lose(int job_rank, const Error& error);
  // A rank of the job has left in order: what waits for it ends, what it has done stays done.
  void depart(int job_rank);

 private:
  std::unique_lock<std::mutex> seek_lock();
  bool concerns(const std::vector<int>& members, int lost) const;
  bool progress();
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
  std::atomic<int> seekers_{0};  // threads that want the lock while another one moves things
  bool someone_sleeps_ = false;
  std::set<int> departed_;  // by job rank

  struct Adopted {
    std::weak_ptr<Fate> fate;
    std::vector<int> job_ranks;
  };
  std::mutex adopted_mutex_;
  std::vector<Adopted> adopted_;
  std::map<int, Error> lost_;  // by job rank; no group with one of them can live
};

}  // namespace trireme::comm
