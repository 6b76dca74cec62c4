// Lock and ReadWriteLock: one holder, or many readers, among all who use the same name on the
// same store.
//
//   Lock lock(store, "checkpoint");
//   Lock::Held held = lock.acquire(Deadline::after(5s));   // until `held` goes
//
// Death:    what a holder has lives with its Store's session. If its process is killed or its
//           connection lost, the lock is free; a holder that only lost its connection does not
//           notice by itself, so guard what matters by a compare_and_set as well.
// Fairness: tickets. A writer waits for those who came before it, a reader for the writers who
//           came before it; so neither starves.
// Failure:  Deadline, and what Store throws; nothing is held then.
// Threads:  any thread; two threads of one store exclude each other too.
// Lifetime: Held must go before its Store. Letting go is best effort and takes at most a second.

#pragma once

#include <memory>
#include <string>

#include "trireme/base/deadline.h"
#include "trireme/cluster/store.h"

namespace trireme::cluster {

class ReadWriteLock {
 public:
  class Held {
   public:
    Held(Held&&) noexcept = default;
    Held& operator=(Held&& other) noexcept;
    ~Held();

    // Lets go now; later calls do nothing.
    void release() noexcept;

   private:
    friend class ReadWriteLock;
    Held(Store& store, std::string key) : store_(&store), key_(std::move(key)) {}
    Store* store_;
    std::string key_;  // exists while we hold; empty: released or moved from
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
