// RankControl starts, signals and kills the ranks of a job, as its policy decides. They run on this
// host (rank/ranks.h) or on several (hosts/remote_ranks.h).
//
// Numbers:       ranks are numbered in the order in which they are started; a number is never
//                reused.
// Unreachable:   it is unknown whether a rank on a lost host is alive. It does not count as living,
//                and is reported to the listener again once that is known.
// Errors:        start_rank() and take_over() throw Error. Later failures are reported to the
//                listener as ends of ranks, or end the job.
// Thread safety: only the thread of the loop.

#pragma once

#include <string>
#include <vector>

#include "trireme/cluster/launch/job/worker_list.h"

namespace trireme::cluster::launch {

class RankControl {
 public:
  virtual ~RankControl() = default;

  // Every host is connected or was lost, so that ranks can be started.
  virtual bool is_ready() const = 0;
  // Starts one more rank, with these additional arguments, and returns its number. `size`: how many
  // ranks start together.
  virtual int start_rank(int size, const std::vector<std::string>& arguments) = 0;
  // Kills one rank if it is alive; `why` describes its end.
  virtual void kill_rank(int rank, const std::string& why) = 0;
  virtual void signal(int signal) = 0;
  virtual int living() const = 0;
  // How many of the wanted ranks there can be now.
  virtual int room(int wanted) const = 0;

  // Takes over the ranks that a dead launcher had started. Some may be dead by now; their ends are
  // reported like any other.
  virtual void take_over(const job::WorkerList& worker_list) = 0;
  // The ranks that are alive or may be, and the number of the next one, for a launcher that takes
  // over.
  virtual job::WorkerList worker_list() const = 0;
};

}  // namespace trireme::cluster::launch
