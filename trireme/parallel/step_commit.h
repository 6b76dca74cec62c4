// StepCommit commits a step on all ranks of a group or on none, and tells each of them what all
// contributed: the loss, the norm of the gradients, whether results are finite, and requests to
// stop or to change the membership. It is one small collective per step.
//
//   commit.begin(step);                     // the strategy; the step may still fail
//   commit.contribute({.squared_norm = s}); // the strategy; this rank has its part of the sums
//   auto all = commit.prepare({.loss = l}); // the training loop
//   commit.finish();                        // the strategy; this rank's update is made
//
// No rank passes prepare() before all ranks have arrived, so if any rank passed it, the live ranks
// can complete the step: recall() finds the result.
//
// Where replicas of the model differ, each has a commit of its own for its sums (Options::replica),
// and the group of all replicas only votes. With slack, votes arrive that many steps later: a rank
// waits for another only if that one is more than `slack` steps behind. A replica whose step is not
// finite then drops it at once, and reports its last finite loss until all replicas know.
//
// Errors:        what Group throws. The step is then neither complete nor undone on this rank;
//                recovery decides.
// Thread safety: one thread. prepare(), total(), drain() and recall() are collectives.

#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "trireme/base/fault.h"
#include "trireme/comm/group.h"
#include "trireme/parallel/commit_journal.h"
#include "trireme/parallel/commit_result.h"

namespace trireme::parallel {

inline constexpr FaultPoint kPrepared{"step.prepared"};  // nothing is updated yet

class StepCommit {
 public:
  struct Options {
    comm::Group group = comm::Group::solo();  // the ranks that commit together
    std::size_t flag_count = 0;               // of Reduced
    StepCommit* replica = nullptr;            // of the ranks that hold this replica
    // Steps may be committed without some replicas. REQUIRES: each rank of the group is one.
    bool can_leave_out = false;
    std::int64_t slack = 0;  // steps by which votes may be late
    CommitJournal* journal = nullptr;
    // Ranks report the figures of a prepared step in their status, for ranks of other hosts.
    bool has_figures_in_status = false;
    // recall() also asks the other ranks for what their journals say.
    bool recalls_from_all = false;
    Faults* faults = nullptr;
  };
  explicit StepCommit(Options options) : options_(std::move(options)) {}

  // `weight`: the global batch, relative to that of this replica.
  void begin(std::int64_t step, double weight = 1);
  void contribute(Reduced reduced) { reduced_ = std::move(reduced); }
  CommitResult prepare(const Contribution& mine);
  void finish();

  // Of the last step that was prepared.
  const CommitResult& result() const noexcept { return result_; }
  const StepStatus& status() const noexcept { return status_; }
  // The sum of a number over the ranks that share a batch; where replicas have batches of their
  // own, an estimate from this one.
  double total(double mine);
  // The length of Prepared::figures.
  std::size_t figure_count() const noexcept;

  // Uses this group from now on, and gives up votes in flight.
  void regroup(const comm::Group& group);
  // Waits for votes in flight and discards them, before a step that does not follow the last one.
  void drain();
  // The result of a step that any rank prepared, live or failed; nothing if none did. `told`: what
  // the live ranks reported. If all ranks of a host failed, what only they knew is lost, and so are
  // their updates. A rank that needs no result passes step -1. REQUIRES: all live ranks have
  // stopped, and this group is of those.
  std::optional<CommitResult> recall(std::int64_t step, std::span<const Prepared> told);

 private:
  // A vote in flight writes to its figures, so they must not move.
  struct Pending {
    std::vector<double> figures;
    comm::Work work;
  };

  std::vector<double> figures_of(const Contribution& mine);
  void exchange(std::vector<double>& figures);
  void record(const std::vector<double>& figures);
  void share(std::int64_t step, std::vector<double>& figures) const;
  CommitResult result_of(std::span<const double> figures);
  void add_sums(CommitResult& result, std::span<const double> sums) const;
  void add_left_out(CommitResult& result, std::span<const double> told) const;

  Options options_;
  StepStatus status_;
  double weight_ = 1;
  Reduced reduced_;                               // by this rank, in this step
  CommitResult result_;                           // of the last step that was prepared
  double finite_loss_ = 0;                        // the last one of this replica
  std::deque<std::unique_ptr<Pending>> pending_;  // votes, oldest first
};

}  // namespace trireme::parallel
