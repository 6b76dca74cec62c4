// Life tells a process's peers on the same host that it lives, and learns of their deaths within
// milliseconds, by a thread that owns words in its own LifePage and sleeps on its word in theirs.
//
//   Life life({.watchers = size, .on_death = [](int rank) { ... }});
//   ... publish life.proof(), meet ...
//   life.watch(3, proof_of_3, my_place);
//
// Death:    any end of the process without leave(): kill -9, a crash, exit(). A stopped process
//           (SIGSTOP) lives.
// Certainty: the word is marked before the process's memory is gone; a pidfd tells when it really
//           is (wait_gone). It also catches, within a second, a word that was not marked.
// Threads:  any thread may call. on_death runs on the life thread, once a rank; while it runs no
//           other death is noticed, so it should be short. It must neither throw nor destroy the
//           Life.
// Kernel:   futex_waitv(2), Linux 5.16; before that the thread polls the pidfds, which is slower.
// Lifetime: the destructor leaves.

#pragma once

#include <functional>
#include <memory>

#include "trireme/base/deadline.h"
#include "trireme/base/memory_file.h"

namespace trireme::cluster {

class Life {
 public:
  struct Options {
    int watchers = 1;  // how many places peers may take in our page
    std::function<void(int rank)> on_death{};
    bool may_use_waitv = true;  // false: as on an older kernel
  };

  // Its words are owned when it returns. REQUIRES: 1 <= watchers <= LifePage::kWatchersMax.
  explicit Life(Options options);
  ~Life();
  Life(const Life&) = delete;
  Life& operator=(const Life&) = delete;

  // For the peers, who will ask for it back.
  MemoryFile::Proof proof() const;

  // Watches this peer from now on; `place` is our place among its watchers. False if its memory
  // is not reachable from here, or it is gone already: nothing is proven then.
  bool watch(int rank, const MemoryFile::Proof& proof, int place);

  // True when the process of this watched rank is gone, false when the deadline came first.
  // Throws NotFound for a rank that is not watched.
  bool wait_gone(int rank, Deadline deadline) const;

  // Whether this watched rank said that it ends on purpose. False for a rank that is not watched.
  bool has_left(int rank) const;

  // Tells the peers that we end on purpose and stops watching them. Idempotent.
  void leave();

 private:
  class Watcher;
  std::unique_ptr<Watcher> watcher_;
};

}  // namespace trireme::cluster
