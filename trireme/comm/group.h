// A Group is a fixed set of ranks that run collectives together.
//
// Ordering:      every rank issues the same operations in the same order; several may be in flight.
//                A difference in operation, count or type fails on every rank with
//                ErrorCode::Mismatch, which names two ranks and what each of them requested.
// Results:       bitwise identical on every rank and in every run. 16-bit sums are rounded once;
//                integers wrap.
// Errors:        the first error is final; every later call throws it again. Create the next group
//                from the next membership epoch; never retry on this one.
// Thread safety: one thread at a time per group; abort() from any thread. Different groups are
//                independent.
// Size 1:        every operation completes at once. On any group, so does an operation without
//                elements on every rank. An all_to_all with counts is the exception: no rank knows
//                the counts of the others, so it always communicates.
//
// A Group is a handle: copies refer to the same group.

#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "trireme/base/error.h"
#include "trireme/comm/arena.h"
#include "trireme/comm/backend.h"
#include "trireme/comm/call.h"
#include "trireme/comm/span.h"
#include "trireme/comm/timeouts.h"
#include "trireme/comm/work.h"

namespace trireme::comm {

class Engine;

// The share of one logical rank in an ordered sum, held by this rank.
struct LogicalShare {
  int logical_rank = 0;
  ConstSpan data;
};

class Group {
 public:
  struct Options {
    std::uint64_t epoch = 0;
    // For operations without their own deadline.
    Duration timeout = Timeouts::kCollective;
    // The arena of this rank's host, if the members of the group do not all share one, and this
    // rank's segment of it. A sub-group that contains only this rank uses it as its arena.
    std::shared_ptr<Arena> home{};
    int home_member = 0;
  };

  // A group that contains only this rank; the reference for every other group.
  static Group solo();
  // The same, with memory that is shared with ranks in other groups.
  static Group solo(std::shared_ptr<Arena> arena, int arena_member, const Options& options);

  Group(std::shared_ptr<Backend> backend, std::shared_ptr<Engine> engine, const Options& options);

  int rank() const noexcept;
  int size() const noexcept;
  std::uint64_t epoch() const noexcept;
  // How long its ranks wait for each other, in collectives and in slower operations.
  Timeouts timeouts() const noexcept;
  BackendCapabilities capabilities() const noexcept;
  // Memory in which spans are combined in place; null if the members share none.
  std::shared_ptr<Arena> arena() const;
  // This rank's segment of the arena, for Arena::allocate().
  int arena_member() const noexcept;
  // By rank: the number of its host, from 0. Ranks on one host share memory.
  std::vector<int> hosts() const;

  // Makes a span in the arena available to the other members under a name, until the Registration
  // ends.
  // Lifetime: the span must outlive the Registration.
  // Errors: throws Misuse if the members share no memory.
  Registration share(std::string_view name, Span data) const;
  // Returns the span that `rank` shares under that name, mapped in this process. Waits until it
  // exists.
  // Errors: throws Deadline, or the group's error.
  Span shared(int rank, std::string_view name, Deadline deadline) const;

  // Reduces `data` over all ranks, in place.
  Work all_reduce(Span data, ReduceOp op, const Call& call = {}) const;
  // The same for several small spans of one type, in one operation.
  Work all_reduce(std::span<const Span> many, ReduceOp op, const Call& call = {}) const;
  // The root's `data` becomes the reduction; on the other ranks it does not change.
  Work reduce(Span data, ReduceOp op, int root, const Call& call = {}) const;
  // Rank r receives the r-th part of the reduction: out.count elements each, or counts[r].
  Work reduce_scatter(Span out, ConstSpan in, ReduceOp op, const Call& call = {}) const;
  Work reduce_scatter(Span out, ConstSpan in, std::span<const std::size_t> counts, ReduceOp op,
                      const Call& call = {}) const;

  // Concatenates every rank's `piece` into `out`, in rank order.
  Work all_gather(Span out, ConstSpan piece, const Call& call = {}) const;
  Work all_gather(Span out, ConstSpan piece, std::span<const std::size_t> counts,
                  const Call& call = {}) const;
  // The same, but only the root receives the result; other ranks ignore `out`.
  Work gather(Span out, ConstSpan piece, int root, const Call& call = {}) const;
  Work gather(Span out, ConstSpan piece, std::span<const std::size_t> counts, int root,
              const Call& call = {}) const;
  // Cuts the root's `in` into one part per rank; other ranks ignore `in`.
  Work scatter(Span out, ConstSpan in, int root, const Call& call = {}) const;
  Work scatter(Span out, ConstSpan in, std::span<const std::size_t> counts, int root,
               const Call& call = {}) const;
  Work broadcast(Span data, int root, const Call& call = {}) const;

  // Part r of `in` goes to rank r; part r of `out` comes from rank r.
  Work all_to_all(Span out, ConstSpan in, const Call& call = {}) const;
  Work all_to_all(Span out, std::span<const std::size_t> receive_counts, ConstSpan in,
                  std::span<const std::size_t> send_counts, const Call& call = {}) const;

  Work barrier(const Call& call = {}) const;

  // Send and receive are matched by peer and tag; type and count must be the same on both sides.
  Work send(ConstSpan data, int to, std::uint32_t tag, const Call& call = {}) const;
  Work receive(Span data, int from, std::uint32_t tag, const Call& call = {}) const;

  // Sums logical ranks 0 ... owners.size() - 1 along a fixed binary tree. The result is bitwise
  // identical for every assignment of logical ranks to ranks and every number of ranks. `owners[s]`
  // is the rank that holds logical rank s; `mine` contains this rank's shares. With ReduceOp::Mean
  // the sum is divided by the number of logical ranks.
  Work ordered_sum(Span out, std::span<const LogicalShare> mine, std::span<const int> owners,
                   ReduceOp op = ReduceOp::Sum, const Call& call = {}) const;

  // Creates a group of these ranks, in this order. Not a collective; members connect on first use.
  // If several sub-groups have the same list of ranks, every member must create them in the same
  // order.
  // REQUIRES: rank() is in the list.
  Group subgroup(std::span<const int> ranks) const;
  // A new group of the same ranks. Its operations are not ordered with those of this group.
  Group duplicate() const;

  // Ends all operations in flight on this rank, the group and its sub-groups with this error. Also
  // applies to sub-groups created later.
  void abort(const Error& cause) const;
  // The same on every rank of the group and of each sub-group that this rank is in: they fail with
  // RemoteFailure and this message (Mismatch and PeerLost keep their code).
  void announce(const Error& cause) const;
  // The error that ended the group, if there is one.
  std::optional<Error> error() const;
  // The same, after receiving the announcements of other ranks and sending those of this rank. Call
  // this regularly while waiting for something else: no other thread sends or receives
  // announcements.
  std::optional<Error> look() const;

 private:
  struct State;
  explicit Group(std::shared_ptr<State> state) : state_(std::move(state)) {}

  std::shared_ptr<State> state_;
};

// Runs `body`. If it throws, reports the error to the other ranks and rethrows the exception. The
// other ranks already know an error of the group itself.
template <class Body>
void guarded(const Group& group, Body&& body) {
  try {
    body();
  } catch (const std::exception& thrown) {
    if (!group.error()) group.announce(Error(ErrorCode::RemoteFailure, thrown.what()));
    throw;
  }
}

}  // namespace trireme::comm
