// LoneWatch watches a worker that trains alone: the members of an epoch watch each other, but a
// single member has no peer. If it freezes, it is killed, and the launcher handles its death.
//
// On this host its memory shows its heartbeats, and it is killed from here. On another host its
// heartbeats are read from the job's store by the owner of this object, who has it killed there.
//
// Thread safety: any thread may call.
// Lifetime:      no worker is watched any more once it is destroyed.

#pragma once

#include <mutex>
#include <optional>

#include "trireme/base/bytes.h"
#include "trireme/base/clock.h"
#include "trireme/cluster/liveness/life.h"
#include "trireme/cluster/membership/epoch.h"

namespace trireme::cluster::launch {

class LoneWatch {
 public:
  // A worker without a heartbeat for `timeout` counts as frozen; zero: no worker is watched.
  explicit LoneWatch(Duration timeout);

  // Sets the current members.
  void look_at(const membership::Epoch& epoch);

  // The worker that trains alone, if it is on another host.
  std::optional<int> far() const;
  // How often to call note_heartbeat() for it.
  Duration interval() const noexcept { return timeout_ / kBeats; }
  // Takes the value of its heartbeat key in the store, as just read. Returns true if the value has
  // not changed for the timeout. The time starts with the first heartbeat; time in which this
  // process or the store was stopped does not count.
  bool note_heartbeat(int worker, const std::optional<Bytes>& value, TimePoint now);

 private:
  static constexpr int kBeats = 5;  // per timeout

  struct Far {
    int worker = 0;
    std::optional<Bytes> value{};
    TimePoint heard{};
    TimePoint looked{};
  };

  const Duration timeout_;
  std::optional<Life> life_;
  mutable std::mutex mutex_;
  std::optional<int> watched_;
  std::optional<Far> far_;
};

}  // namespace trireme::cluster::launch
