// Lock and ReadWriteLock: one holder, or many readers, among all users of the same name on the same
// store.
//
//   Lock lock(store, "checkpoint");
//   Lock::Held held = lock.acquire(Deadline::after(5s));   // until `held` is destroyed
//
// Death:         the lock is bound to the session of the holder's Store. If the holder's process is
//                killed or its connection is lost, the lock is free. A holder that only lost its
//                connection does not notice by itself, so guard critical updates by a
//                compare_and_set as well.
// Fairness:      tickets. A writer waits for all earlier arrivals, a reader for all earlier
//                writers, so neither starves.
// Errors:        Deadline, and whatever Store throws; the lock is not held then.
// Thread safety: any thread; two threads of one store exclude each other too.
// Lifetime:      Held must be destroyed before its Store. Releasing is best effort and takes at
//                most a second.

#pragma once

#include <memory>
#include <string>

#include "trireme/base/deadline.h"
#include "trireme/cluster/store/store.h"

namespace trireme::cluster {

class ReadWriteLock {
 public:
  class Held {
   public:
    Held(Held&&) noexcept = default;
    Held& operator=(Held&& other) noexcept;
    ~Held();

    // Releases the lock now; later calls do nothing.
    void release() noexcept;

   private:
    friend class ReadWriteLock;
    Held(Store& store, std::string key) : store_(&store), key_(std::move(key)) {}
    Store* store_;
    std::string key_;  // exists while the lock is held; empty: released or moved from
  };

  ReadWriteLock(Store& store, std::string name);

  [[nodiscard]] Held read(Deadline deadline);
  [[nodiscard]] Held write(Deadline deadline);

 private:
  class Attempt;

  Store& store_;
  const std::string name_;
};

class Lock {
 public:
  using Held = ReadWriteLock::Held;

  Lock(Store& store, std::string name) : lock_(store, std::move(name)) {}

  [[nodiscard]] Held acquire(Deadline deadline) { return lock_.write(deadline); }

 private:
  ReadWriteLock lock_;
};

}  // namespace trireme::cluster
