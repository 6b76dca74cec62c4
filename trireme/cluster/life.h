// Life tells a process's peers on the same host that it lives, and learns of their deaths within
// milliseconds, by a thread that owns words in its own LifePage and sleeps on its word in theirs.
//
//   Life life({.watchers = size, .on_death = [](int rank) { ... }});
//   ... publish life.proof(), meet ...
//   life.watch(3, proof_of_3, my_place);
//
// Death:    any end of the process without leave(): kill -9, a crash, exit(). A stopped process
//           (SIGSTOP) lives.
// Silence:  with a heartbeat, the thread also counts up in its own page and looks whether its
//           peers do; one that has not for the timeout is reported, and again after each further
//           timeout. Whoever was frozen itself accuses nobody.
// Certainty: the word is marked before the process's memory is gone; a pidfd tells when it really
//           is (wait_gone). It also catches, within a second, a word that was not marked.
//           wait_harmless() is true earlier, as soon as it can write nothing any more.
// Threads:  any thread may call. The callbacks run on the life thread, one at a time; while one
//           runs no other death is noticed, so it should be short. It may call kill(), must not
//           throw, and must not destroy the Life.
// Kernel:   futex_waitv(2), Linux 5.16; before that the thread polls the pidfds, which is slower.
// Lifetime: the destructor leaves.

#pragma once

#include <functional>
#include <memory>

#include "trireme/base/deadline.h"
#include "trireme/base/memory_file.h"
#include "trireme/cluster/heartbeat.h"

namespace trireme::cluster {

// Nobody beats and nobody is expected to.
inline constexpr HeartbeatConfig kNoHeartbeat{.interval = {}, .timeout = {}};

class Life {
 public:
  struct Options {
    int watchers = 1;  // how many places peers may take in our page
    std::function<void(int rank)> on_death{};
    std::function<void(int rank)> on_left{};
    HeartbeatConfig heartbeat = kNoHeartbeat;
    std::function<void(int rank, Duration silence)> on_silent{};
    bool may_use_waitv = true;  // false: as on an older kernel
  };

  // Its words are owned when it returns. REQUIRES: 1 <= watchers <= LifePage::kWatchersMax.
  explicit Life(Options options);
  ~Life();
  Life(const Life&) = delete;
  Life& operator=(const Life&) = delete;

  // Whether the process that made this proof lives and has not left, as far as can be seen from
  // this host.
  static bool is_living(const MemoryFile::Proof& proof);

  // For the peers, who will ask for it back.
  MemoryFile::Proof proof() const;

  // Watches this peer from now on; `place` is our place among its watchers. False if its memory
  // is not reachable from here, or it is gone already: nothing is proven then.
  bool watch(int rank, const MemoryFile::Proof& proof, int place);

  // True when the process of this watched rank is gone, false when the deadline came first.
  // Throws NotFound for a rank that is not watched.
  bool wait_gone(int rank, Deadline deadline) const;

  // True when no thread of this watched rank's process can run its program any more, false when
  // the deadline came first. A rank of this very process is harmless once it died or left. Throws
  // NotFound as wait_gone() does. REQUIRES: the process was killed, by kill() or otherwise.
  bool wait_harmless(int rank, Deadline deadline) const;

  // Kills the process of this watched rank, -9; never our own. False if it is not watched.
  bool kill(int rank) const;

  // No longer watches this rank; its number may be watched anew.
  void forget(int rank);

  // Whether this watched rank said that it ends on purpose. False for a rank that is not watched.
  bool has_left(int rank) const;

  // Tells the peers that we end on purpose and stops watching them. Idempotent.
  void leave();

 private:
  class Watcher;
  std::unique_ptr<Watcher> watcher_;
};

}  // namespace trireme::cluster
