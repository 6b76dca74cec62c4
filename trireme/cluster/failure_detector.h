// FailureDetector is how a rank learns that another one is gone: one report a rank, with a cause.
//
// | where the other is        | how                                              | how soon      |
// | on this host, proven      | its life page (see life.h)                       | milliseconds  |
// | elsewhere, process ended  | its session in the store ends with its sockets   | milliseconds  |
// | elsewhere, frozen or cut  | heartbeats through the store                     | the timeout   |
//
// In the store, `fate/<epoch>/<rank>` is "here" while the rank's session lives, "left" once it
// has left in an orderly way, and "dead: why" when somebody found it dead. All ranks that have
// peers elsewhere watch these keys, so they hear of every death, even of their own: a rank that
// was frozen and declared dead is told so, and must not go on.
//
// Use:      make it, publish proof(), meet, start(). leave() before the end, or others take the
//           end for a death.
// Threads:  any thread may call. Callbacks come from the detector's threads, one at a time; they
//           should be short, must not throw, and must not destroy the detector.
// Lifetime: roster and store must outlive it. The destructor leaves.

#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "trireme/base/deadline.h"
#include "trireme/base/log.h"
#include "trireme/base/memory_file.h"
#include "trireme/cluster/heartbeat.h"
#include "trireme/cluster/roster.h"
#include "trireme/cluster/store.h"

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
    std::uint64_t epoch = 0;
    HeartbeatConfig heartbeat{};
    std::optional<int> store_rank{};  // who serves the store, if a rank does
    Log log{};
  };

  // Makes the life page. The store must be this rank's own session.
  FailureDetector(const Options& options, Store& store);
  ~FailureDetector();
  FailureDetector(const FailureDetector&) = delete;
  FailureDetector& operator=(const FailureDetector&) = delete;

  // For this rank's record in the roster.
  MemoryFile::Proof proof() const;
  // Puts "here" into the store. Before the meeting, so that whoever met us can rely on it.
  void announce(Deadline deadline);
  // After the meeting: maps the neighbours' pages and begins to watch everybody.
  void start(const Roster& roster, Deadline deadline);

  // Every death from now on, and those that were noticed already.
  void on_death(std::function<void(const Death&)> callback);
  // The same for every rank that leaves in order.
  void on_leave(std::function<void(int rank)> callback);
  // Whether memory shared with this rank was proven. Itself: yes.
  bool shares_memory_with(int rank) const;
  // See Life; NotFound for a rank that shares no memory with us.
  bool wait_gone(int rank, Deadline deadline) const;

  // Tells everybody that we end on purpose, and stops. Idempotent.
  void leave() noexcept;

 private:
  class Watchman;
  std::unique_ptr<Watchman> watchman_;
};

}  // namespace trireme::cluster
