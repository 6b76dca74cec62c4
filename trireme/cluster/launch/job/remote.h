// Remote is a running job seen from outside: by a user who watches or stops it, and by a rank that
// reports to it.
//
// Errors:        NotFound when no such job runs (with the closest name of a running job); else what
//                net::Client throws.
// Thread safety: any thread.

#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <string_view>
#include <vector>

#include "trireme/base/deadline.h"
#include "trireme/cluster/launch/job/card.h"
#include "trireme/monitor/feed.h"

namespace trireme::cluster::launch::job {

struct RunningJob {
  std::filesystem::path folder;
  Card card;
};

// All running jobs of this user, by name.
std::vector<RunningJob> running_jobs();
RunningJob find_job(std::string_view name);

// Asks the job to end, or kills it, and waits until it is gone. An elastic job whose launcher is
// gone is killed at once. Throws Deadline.
void stop_job(const RunningJob& job, bool is_kill, Deadline deadline);

// Tells an elastic job how many workers are wanted, or to start one more, whose number it returns.
// Throws InvalidInput when the job is not elastic, is ending, or does not allow that number.
void scale_job(const RunningJob& job, int workers, Deadline deadline);
int join_job(const RunningJob& job, Deadline deadline);

// Passes every event to `sink`, one JSON line each, until the job ends or `sink` returns false. The
// first ones are those that happened before. `on_quiet` is called whenever no event has come for a
// short time, so not before these have been passed on.
void watch_job(const RunningJob& job, const std::function<bool(std::string_view)>& sink,
               const std::function<void()>& on_quiet = {});

// The feed from this rank to its launcher, according to TRIREME_JOB_FOLDER (or TRIREME_FEED, if the
// launcher is on another host), TRIREME_SECRET_FILE and TRIREME_RANK. Null if this process was not
// started by `trireme run`.
std::unique_ptr<monitor::Feed> rank_feed(Deadline deadline);

}  // namespace trireme::cluster::launch::job
