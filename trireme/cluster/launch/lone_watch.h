// LoneWatch watches a worker that trains alone: the members of an epoch watch each other, but a
// single member has no peer. If it freezes, it is killed, and the launcher handles its death.
//
// Thread safety: any thread may call.
// Lifetime:      no worker is watched any more once it is destroyed.

#pragma once

#include <mutex>
#include <optional>

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

 private:
  std::optional<Life> life_;
  std::mutex mutex_;
  std::optional<int> watched_;
};

}  // namespace trireme::cluster::launch
