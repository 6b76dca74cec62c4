// JobHosts is where the ranks of a job run: this host (LocalHost), or several hosts that are
// reached through agents (hosts/fleet.h). The launcher's loop and the job's policy are the same for
// both.
//
// Numbers:       ranks are numbered in the order in which they are started; a number is never
//                reused.
// Unreachable:   it is unknown whether a rank on a lost host is alive. It does not count as living,
//                and is reported to the listener again once that is known.
// Errors:        begin(), take_over() and start_rank() throw Error. Later failures are reported to
//                the listener as ends of ranks, or end the job.
// Thread safety: only the thread of the loop.

#pragma once

#include <poll.h>
#include <sys/types.h>

#include <span>
#include <string>
#include <vector>

#include "trireme/base/deadline.h"
#include "trireme/base/record.h"
#include "trireme/cluster/launch/job/worker_list.h"
#include "trireme/cluster/launch/rank/rank_exit.h"
#include "trireme/cluster/launch/rank/rank_records.h"

namespace trireme::cluster::launch {

// Learns what happens to ranks.
class RankListener {
 public:
  virtual ~RankListener() = default;
  // `where`: fields for an event, such as the pid and the host.
  virtual void on_started(int rank, const Record& where) = 0;
  // A rank that was unreachable, or was started by an earlier launcher, is alive.
  virtual void on_found(int /*rank*/) {}
  // `failure`: what the rank wrote about its failure; see kFailureMark.
  virtual void on_ended(const RankExit& exit, const std::string& failure) = 0;
};

// Learns what happens to hosts too, and is asked for what the distribution of ranks depends on.
class HostListener : public RankListener {
 public:
  virtual void on_unreachable(int rank) = 0;
  // A host was given up; so many of the wanted ranks can still run.
  virtual void on_given_up(const std::string& why, int left) = 0;
  virtual int wanted() const = 0;
  // Whether a rank has ended successfully; then the wait for an unreachable host is short.
  virtual bool is_done() const = 0;
};

// The part that decides which ranks run.
class RankControl {
 public:
  virtual ~RankControl() = default;
  // Every host is connected or was lost, so that ranks can be started.
  virtual bool is_ready() const = 0;
  // Starts one more rank, with these additional arguments, and returns its number. `size`: how many
  // ranks start together.
  virtual int start_rank(int size, const std::vector<std::string>& arguments) = 0;
  // Kills one rank; `why` describes its end.
  virtual void kill_rank(int rank, const std::string& why) = 0;
  virtual void signal(int signal) = 0;
  virtual int living() const = 0;
  // How many of the wanted ranks there can be now.
  virtual int room(int wanted) const = 0;
};

// The part that the loop drives.
class JobHosts : public RankControl {
 public:
  virtual RankRecords& records() = 0;
  // `store`, `feed`: where ranks find the store and send events; empty: in the job's folder.
  virtual void begin(HostListener& listener, const std::string& store, const std::string& feed) = 0;
  // Takes over the ranks that a dead launcher had started. REQUIRES: begin() was called.
  virtual void take_over(const job::WorkerList& worker_list) = 0;
  // The ranks that are alive or may be, and the number of the next one, for a launcher that takes
  // over.
  virtual job::WorkerList worker_list() const = 0;

  virtual void add_waits(std::vector<pollfd>& waits, bool has_room) const = 0;
  // When something is due if no other event happens.
  virtual Deadline next() const = 0;
  // Reads and writes without blocking, and does what is due; `waits`: after poll(2).
  virtual void pump(std::span<const pollfd> waits) = 0;
  virtual void on_reaped(pid_t pid, int status) = 0;
  // Whether that process is one of the ranks; see host::Process.
  virtual bool has(pid_t /*pid*/, unsigned long long /*start*/) const { return false; }
  // Looks for ranks that have ended and whose end is not reported to this process.
  virtual void look_for_ends() {}

  // Kills everything that is left. The loop continues as long as is_running().
  virtual void end() = 0;
  virtual bool is_running() const = 0;
};

}  // namespace trireme::cluster::launch
