// A Group is a fixed set of ranks that run collectives together.
//
// Order:   every rank issues the same operations in the same order; several may be in flight. A
//          difference in operation, count or type fails on every rank with ErrorCode::Mismatch
//          and names two ranks and what each asked for.
// Results: the same bits on every rank, every run. 16-bit sums are rounded once; integers wrap.
// Failure: the first error is final; every later call repeats it. Make the next group from the
//          next membership epoch; never retry on this one.
// Threads: one thread at a time a group; abort() from any. Distinct groups are independent.
// Size 1:  every operation succeeds at once. So does one in which nobody has anything, on any
// group;
//          of all_to_all with counts no rank knows that, so it meets the others.
//
// A Group is a handle: copies are the same group.

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
#include "trireme/comm/work.h"

namespace trireme::comm {

class Engine;

// One slot's share of an ordered sum, held by this rank.
struct SlotShare {
  int slot = 0;
  ConstSpan data;
};

class Group {
 public:
  struct Options {
    std::uint64_t epoch = 0;
    // For operations that name no deadline of their own.
    Duration timeout = std::chrono::minutes(5);
    // The memory of this rank's host, where the group's members do not all share one: what a
    // sub-group of this rank alone has for its arena. And this rank's segment of it.
    std::shared_ptr<Arena> home{};
    int home_member = 0;
  };

  // The group of this rank alone; the reference for every other group.
  static Group solo();
  // The same where memory is shared with ranks that are in other groups.
  static Group solo(std::shared_ptr<Arena> arena, int arena_member, const Options& options);

  Group(std::shared_ptr<Backend> backend, std::shared_ptr<Engine> engine, const Options& options);

  int rank() const noexcept;
  int size() const noexcept;
  std::uint64_t epoch() const noexcept;
  Capabilities capabilities() const noexcept;
  // Memory in which spans are combined in place; null where the members share none.
  std::shared_ptr<Arena> arena() const;
  // This rank's segment of it, for Arena::allocate().
  int arena_member() const noexcept;
  // By rank: the number of its host, from 0. Ranks of one host share memory.
  std::vector<int> hosts() const;

  // Makes a span in the arena known to the other members under a name, until the Registration
  // ends; the span must outlive it. Throws Misuse where the members share no memory.
  Registration share(std::string_view name, Span data) const;
  // The span that `rank` shares under that name, as this process sees it. Waits for it; throws
  // Deadline, or the group's error.
  Span shared(int rank, std::string_view name, Deadline deadline) const;

  // Replaces `data` by its reduction over all ranks.
  Work all_reduce(Span data, ReduceOp op, const Call& call = {}) const;
  // The same for several small spans of one type, launched as one.
  Work all_reduce(std::span<const Span> many, ReduceOp op, const Call& call = {}) const;
  // The root's `data` becomes the reduction; elsewhere it stays as it was.
  Work reduce(Span data, ReduceOp op, int root, const Call& call = {}) const;
  // Rank r receives the r-th part of the reduction: of out.count each, or of counts[r].
  Work reduce_scatter(Span out, ConstSpan in, ReduceOp op, const Call& call = {}) const;
  Work reduce_scatter(Span out, ConstSpan in, std::span<const std::size_t> counts, ReduceOp op,
                      const Call& call = {}) const;

  // Concatenates every rank's `piece` into `out`, in rank order.
  Work all_gather(Span out, ConstSpan piece, const Call& call = {}) const;
  Work all_gather(Span out, ConstSpan piece, std::span<const std::size_t> counts,
                  const Call& call = {}) const;
  // The same into the root's `out` alone; elsewhere `out` is ignored.
  Work gather(Span out, ConstSpan piece, int root, const Call& call = {}) const;
  Work gather(Span out, ConstSpan piece, std::span<const std::size_t> counts, int root,
              const Call& call = {}) const;
  // The root's `in` is cut into parts, one a rank; elsewhere `in` is ignored.
  Work scatter(Span out, ConstSpan in, int root, const Call& call = {}) const;
  Work scatter(Span out, ConstSpan in, std::span<const std::size_t> counts, int root,
               const Call& call = {}) const;
  Work broadcast(Span data, int root, const Call& call = {}) const;

  // Part r of `in` goes to rank r; part r of `out` comes from rank r.
  Work all_to_all(Span out, ConstSpan in, const Call& call = {}) const;
  Work all_to_all(Span out, std::span<const std::size_t> receive_counts, ConstSpan in,
                  std::span<const std::size_t> send_counts, const Call& call = {}) const;

  Work barrier(const Call& call = {}) const;

  // Matched by peer and tag; same type and count on both sides.
  Work send(ConstSpan data, int to, std::uint32_t tag, const Call& call = {}) const;
  Work receive(Span data, int from, std::uint32_t tag, const Call& call = {}) const;

  // The sum over slots 0 ... owners.size() - 1 along a fixed binary tree, whoever holds which:
  // the same bits on any number of ranks. `owners[s]` is the rank that holds slot s, `mine` are
  // this rank's shares. With ReduceOp::Mean divided by the number of slots.
  Work ordered_sum(Span out, std::span<const SlotShare> mine, std::span<const int> owners,
                   ReduceOp op = ReduceOp::Sum, const Call& call = {}) const;

  // The group of these ranks, in this order. No collective: its members meet at first use. Every
  // member must make the sub-groups of one list in the same order. REQUIRES: rank() is in it.
  Group subgroup(std::span<const int> ranks) const;
  // The same ranks once more: its operations are not in one order with this group's.
  Group duplicate() const;

  // Ends everything in flight on this rank, the group and its sub-groups, with this error; those
  // that are made later, too.
  void abort(const Error& cause) const;
  // The same on every rank of the group, and of each sub-group that this rank is in: they fail with
  // RemoteFailure and this text (Mismatch and PeerLost stay what they are).
  void announce(const Error& cause) const;
  // The error that ended the group, if one did.
  std::optional<Error> error() const;
  // The same, after a look at what others have announced: for whoever waits for something else.
  std::optional<Error> look() const;

 private:
  struct State;
  explicit Group(std::shared_ptr<State> state) : state_(std::move(state)) {}
  Operation prepare(OpKind kind, DType type, std::size_t count, const Call& call) const;
  Work start(Operation op) const;
  Work launch(std::shared_ptr<Activity> activity) const;
  std::vector<Group> parts() const;  // the sub-groups that somebody holds

  std::shared_ptr<State> state_;
};

// Runs `body` and, if it throws, tells the other ranks why before passing the exception on. An
// error of the group itself is known to them already.
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
