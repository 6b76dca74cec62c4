// JobHosts is where the ranks of a job run: this host (LocalHost), or several hosts that are
// reached through agents (hosts/fleet.h). The launcher's loop and the job's policy are the same for
// both: the loop drives the hosts, and the policy controls the ranks.
//
// Errors:        begin() throws Error. Later failures are reported to the listener as ends of
//                ranks, or end the job.
// Thread safety: only the thread of the loop.

#pragma once

#include <poll.h>
#include <sys/types.h>

#include <span>
#include <string>
#include <vector>

#include "trireme/base/deadline.h"
#include "trireme/cluster/launch/rank/rank_records.h"
#include "trireme/cluster/launch/rank_control.h"
#include "trireme/cluster/launch/rank_listener.h"

namespace trireme::cluster::launch {

class JobHosts {
 public:
  virtual ~JobHosts() = default;

  // `store`, `feed`: where ranks find the store and send events; empty: in the job's folder.
  virtual void begin(HostListener& listener, const std::string& store, const std::string& feed) = 0;
  virtual RankControl& ranks() = 0;
  virtual RankRecords& records() = 0;

  // Returns when something is due if no other event happens.
  virtual Deadline add_waits(std::vector<pollfd>& waits, bool has_room) const = 0;
  // Reads and writes without blocking, and does what is due; `waits`: after poll(2).
  virtual void pump(std::span<const pollfd> waits) = 0;
  virtual void on_reaped(pid_t pid, int status) = 0;

  // Kills everything that is left. The loop continues as long as is_running().
  virtual void end() = 0;
  virtual bool is_running() const = 0;
};

}  // namespace trireme::cluster::launch
