// Life tells a process's peers on the same host that it is alive, and detects their deaths within
// milliseconds. Its thread owns futex words in its own LifePage and sleeps on its word in each
// peer's page.
//
//   Life life({.watchers = size, .on_death = [](int rank) { ... }});
//   ... publish life.proof(), meet ...
//   life.watch(3, proof_of_3, my_place);
//
// Death:         any end of the process without leave(): kill -9, a crash, exit(). A stopped
//                process (SIGSTOP) counts as alive.
// Silence:       with a heartbeat, the thread also increments a counter in its own page and checks
//                that its peers do. A peer that has not done so for the timeout is reported, and
//                again after each further timeout. A process that was frozen itself reports no
//                peer.
// Stall:         with a liveness, each beat also publishes this process's progress report; with a
//                stall ledger it also reads those of its peers, and reports a peer that is stuck,
//                or this process itself (see stall_ledger.h).
// Certainty:     the word is marked before the process's memory is gone; a pidfd tells when the
//                process is gone (wait_gone). The pidfd also detects, within a second, a death
//                whose word was not marked. wait_harmless() returns true earlier, as soon as the
//                process can write nothing any more.
// Kernel:        futex_waitv(2), Linux 5.16; on older kernels the thread polls the pidfds, which is
//                slower.
// Thread safety: any thread may call. The callbacks run on the life thread, one at a time; while
//                one runs, no other death is detected, so it should be short. It may call kill(),
//                must not throw, and must not destroy the Life.
// Lifetime:      the destructor calls leave().

#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "trireme/base/deadline.h"
#include "trireme/base/file/memory_file.h"
#include "trireme/base/liveness.h"
#include "trireme/cluster/liveness/heartbeat.h"
#include "trireme/cluster/liveness/stall_ledger.h"

namespace trireme::cluster {

// No process sends heartbeats and none are expected.
inline constexpr HeartbeatConfig kNoHeartbeat{.interval = {}, .timeout = {}};

class Life {
 public:
  struct Options {
    int watchers = 1;  // the largest number of peers that can watch this process
    std::function<void(int rank)> on_death{};
    std::function<void(int rank)> on_left{};
    HeartbeatConfig heartbeat = kNoHeartbeat;
    std::function<void(int rank, Duration silence)> on_silent{};
    std::shared_ptr<const Liveness> liveness{};  // of this process
    std::shared_ptr<StallLedger> stalls{};       // needs the liveness; null: none is ever stuck
    std::function<void(int rank, const std::string& why)> on_stuck{};
    // Its peers can read the reason before this is called; it should end the process.
    std::function<void(const std::string& why)> on_self_stuck{};
    bool may_use_waitv = true;  // false: behave as on an older kernel
  };

  // When the constructor returns, the life thread owns its words. REQUIRES: 1 <= watchers <=
  // LifePage::kWatchersMax.
  explicit Life(Options options);
  ~Life();
  Life(const Life&) = delete;
  Life& operator=(const Life&) = delete;

  // Whether the process that made this proof is alive and has not left, as far as can be seen from
  // this host.
  static bool is_living(const MemoryFile::Proof& proof);

  // For the peers, which pass it to watch().
  MemoryFile::Proof proof() const;

  // Starts watching this peer; `place` is this process's place among the peer's watchers. Returns
  // false if the peer's memory is not reachable from here, or if it is already gone; nothing is
  // proven then.
  bool watch(int rank, const MemoryFile::Proof& proof, int place);

  // True when the process of this watched rank is gone, false when the deadline came first. Throws
  // NotFound for a rank that is not watched.
  bool wait_gone(int rank, Deadline deadline) const;

  // True when no thread of this watched rank's process can run program code any more, false when
  // the deadline came first. A rank in this same process is harmless once it died or left. Throws
  // NotFound as wait_gone() does. REQUIRES: the process was killed, by kill() or otherwise.
  bool wait_harmless(int rank, Deadline deadline) const;

  // Kills the process of this watched rank with SIGKILL; never this process itself. Returns false
  // if the rank is not watched. All its watchers can read the reason before they notice its death.
  bool kill(int rank, std::string_view why = {}) const;
  // Why this watched rank ended: the first reason that a process gave for killing it, or its own
  // reason for leaving; "" if none was given.
  std::string reason(int rank) const;

  // Stops watching this rank; its number may be watched again later.
  void forget(int rank);

  // Whether this watched rank reported an orderly end. False for a rank that is not watched.
  bool has_left(int rank) const;

  // Tells the peers that this process ends on purpose, with the reason if there is one, and stops
  // watching them. Idempotent.
  void leave(std::string_view why = {});

 private:
  class Watcher;
  std::unique_ptr<Watcher> watcher_;
};

}  // namespace trireme::cluster
