// JobWatch tells a worker of an elastic job that no process watches the job any more: neither
// the process that the user started nor the launcher has been alive for `timeout`. The coordinator
// ends such a job; this class covers the case that the coordinator is gone as well, so that no
// worker trains forever.
//
// Errors:        Io if no thread can be created. A folder that is gone counts as unwatched.
// Thread safety: `on_unwatched` is called once, on the watch's own thread.
// Lifetime:      the destructor ends the thread; it must not run inside on_unwatched.

#pragma once

#include <filesystem>
#include <functional>
#include <memory>

#include "trireme/base/clock.h"
#include "trireme/cluster/environment.h"

namespace trireme::cluster::launch::job {

class JobWatch {
 public:
  // `folder` is the job's.
  JobWatch(std::filesystem::path folder, Duration timeout, std::function<void()> on_unwatched);
  ~JobWatch();
  JobWatch(const JobWatch&) = delete;
  JobWatch& operator=(const JobWatch&) = delete;

  // For the job of this worker process; null if the job is not elastic.
  static std::unique_ptr<JobWatch> of(const cluster::Environment& environment,
                                      std::function<void()> on_unwatched);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace trireme::cluster::launch::job
