// RankListener learns what happens to the ranks of a job, and HostListener also what happens to the
// hosts of a job on several.
//
// Thread safety: called by the thread of the loop.

#pragma once

#include <string>

#include "trireme/base/record.h"
#include "trireme/cluster/launch/rank/rank_exit.h"

namespace trireme::cluster::launch {

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

// Is also asked for what the distribution of ranks depends on.
class HostListener : public RankListener {
 public:
  virtual void on_unreachable(int rank) = 0;
  // A host was given up; so many of the wanted ranks can still run.
  virtual void on_given_up(const std::string& why, int left) = 0;
  virtual int wanted() const = 0;
  // Whether a rank has ended successfully; then the wait for an unreachable host is short.
  virtual bool is_done() const = 0;
};

}  // namespace trireme::cluster::launch
