// LoneWatch notices that a worker which trains alone has frozen: the members of an epoch watch each
// other, but a single member has no peer. Its heartbeats are read from the job's store by the owner
// of this object, which may run on another host, and which has the worker killed; the launcher then
// handles its death.
//
// Thread safety: any thread may call.

#pragma once

#include <mutex>
#include <optional>
#include <set>

#include "trireme/base/bytes.h"
#include "trireme/base/clock.h"

namespace trireme::cluster::launch {

class LoneWatch {
 public:
  // A worker without a heartbeat for the timeout is frozen; with a timeout of zero none is watched.
  explicit LoneWatch(Duration timeout) : timeout_(timeout) {}

  // Sets the current members; none while the job restarts.
  void set_members(const std::set<int>& workers);

  // While the job is paused (Ctrl-Z), no worker is watched.
  void set_paused(bool is_paused);

  // The worker that trains alone, if there is one.
  std::optional<int> worker() const;
  // How often to call note_heartbeat() for it.
  Duration interval() const noexcept { return timeout_ / 5; }
  // Takes the value of its heartbeat key in the store, as just read. Returns true if the worker
  // counts as frozen: the value has not changed for one timeout; for kFirst timeouts if the worker
  // has sent no heartbeat since it became the only one; for kEnd timeouts while its process ends
  // (membership::kWellEnd). Time in which this process or the store was stopped does not count.
  bool note_heartbeat(int worker, const std::optional<Bytes>& value, TimePoint now);

  static constexpr int kFirst = 4;  // the others leave first
  static constexpr int kEnd = 24;   // its process may take long to end

 private:
  struct Lone {
    int worker = 0;
    bool has_beaten = false;
    std::optional<Bytes> value{};
    TimePoint heard{};
    TimePoint looked{};
  };

  const Duration timeout_;
  mutable std::mutex mutex_;
  std::optional<Lone> lone_;
  bool is_paused_ = false;
};

}  // namespace trireme::cluster::launch
