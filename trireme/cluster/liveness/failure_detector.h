// FailureDetector reports to a rank that another rank is gone: one report per rank, with a cause.
//
// | where the other rank is   | how it is detected                               | how soon      |
// | on this host, proven      | its life page (see life.h)                       | milliseconds  |
// | elsewhere, process ended  | its session in the store ends with its sockets   | milliseconds  |
// | elsewhere, frozen or cut  | heartbeats through the store                     | the timeout   |
//
// In the store, `fate/<rank>` is "here" while the rank's session lives, "left" once it has
// left in an orderly way, and "dead: why" once another rank has found it dead. Every rank that has
// peers on other hosts watches these keys, so it learns of every death, including its own: a rank
// that was frozen and declared dead is told so and must not continue.
//
// Use:           construct it, publish proof(), join the job (see
//                membership/admission.h), call start(). Call leave()
//                before the process ends; otherwise the other ranks treat its end as a death.
// Thread safety: any thread may call. Callbacks run on the detector's threads, one at a time; they
//                should be short, must not throw, and must not destroy the detector.
// Lifetime:      roster and store must outlive it. The destructor calls leave().

#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "trireme/base/deadline.h"
#include "trireme/base/file/memory_file.h"
#include "trireme/base/log.h"
#include "trireme/cluster/liveness/heartbeat.h"
#include "trireme/cluster/roster.h"
#include "trireme/cluster/store/store.h"

namespace trireme::cluster {

struct Death {
  int rank = 0;
  std::string cause{};
};

class FailureDetector {
 public:
  struct Options {
    int rank = 0;
    int size = 1;
    HeartbeatConfig heartbeat{};
    std::optional<int> store_rank{};  // the rank that serves the store, if one does
    Log log{};
  };

  // Creates the life page. The store must be this rank's own session.
  FailureDetector(const Options& options, Store& store);
  ~FailureDetector();
  FailureDetector(const FailureDetector&) = delete;
  FailureDetector& operator=(const FailureDetector&) = delete;

  // For this rank's record in the roster.
  MemoryFile::Proof proof() const;
  // Writes "here" into the store. Call it before joining, so that other ranks can rely on it.
  void announce(Deadline deadline);
  // After joining: maps the life pages of the ranks on this host and starts watching all
  // ranks.
  void start(const Roster& roster, Deadline deadline);

  // Reports every death from now on, and those that were already detected.
  void on_death(std::function<void(const Death&)> callback);
  // The same for every rank that leaves in an orderly way.
  void on_leave(std::function<void(int rank)> callback);
  // Whether shared memory with this rank was proven. Always true for the rank itself.
  bool shares_memory_with(int rank) const;
  // See Life; throws NotFound for a rank that shares no memory with this one.
  bool wait_gone(int rank, Deadline deadline) const;

  // Tells all ranks that this one ends on purpose, and stops. Idempotent.
  void leave() noexcept;

 private:
  class Watchman;
  std::unique_ptr<Watchman> watchman_;
};

}  // namespace trireme::cluster
