// LoneWatch looks after a worker that trains alone: members of an epoch watch each other, and the
// last one has nobody. If it freezes, it is killed, and the launcher does what follows a death.
//
// Threads:  any thread may call.
// Lifetime: nobody is watched any more once it is gone.

#pragma once

#include <mutex>
#include <optional>

#include "trireme/base/clock.h"
#include "trireme/cluster/life.h"
#include "trireme/cluster/membership/epoch.h"

namespace trireme::cluster::launch {

class LoneWatch {
 public:
  // A heart that has not beaten for so long is taken for frozen; zero: nobody is watched.
  explicit LoneWatch(Duration timeout);

  // Who trains from now on.
  void look_at(const membership::Epoch& epoch);

 private:
  std::optional<Life> life_;
  std::mutex mutex_;
  std::optional<int> watched_;
};

}  // namespace trireme::cluster::launch
