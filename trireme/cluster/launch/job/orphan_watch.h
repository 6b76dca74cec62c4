// OrphanWatch tells a worker of an elastic job that nobody watches the job any more: neither the
// process that the user started nor the launcher has been there for `timeout`. The coordinator
// ends such a job; this is for when that is gone as well, so that no worker trains for ever.
//
// Threads:  `on_orphaned` is called once, on the watch's own thread.
// Failure:  Io where no thread can be had. A folder that is gone counts as nobody watching.
// Lifetime: the destructor ends the thread; it must not run inside on_orphaned.

#pragma once

#include <filesystem>
#include <functional>
#include <memory>

#include "trireme/base/clock.h"
#include "trireme/cluster/environment.h"

namespace trireme::cluster::launch::job {

class OrphanWatch {
 public:
  // `folder` is the job's.
  OrphanWatch(std::filesystem::path folder, Duration timeout, std::function<void()> on_orphaned);
  ~OrphanWatch();
  OrphanWatch(const OrphanWatch&) = delete;
  OrphanWatch& operator=(const OrphanWatch&) = delete;

  // For the job that this process is a worker of; null where that is not elastic.
  static std::unique_ptr<OrphanWatch> of(const cluster::Environment& environment,
                                         std::function<void()> on_orphaned);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace trireme::cluster::launch::job
