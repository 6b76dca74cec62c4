// Backend is the interface that a transport implements; callers use Group.
//
// A backend object represents one group on one rank. It turns Operations into Tasks that move data
// and reports its capabilities. The Engine runs the Tasks; a backend owns no thread.
//
// Ordering: run() is called with consecutive sequence numbers that are the same on every member,
//           except for send and receive, which are matched by peer and tag.
// Errors:   a Task throws Error. The group has then failed for good, and the engine calls
//           announce().

#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "trireme/base/clock.h"
#include "trireme/base/error.h"
#include "trireme/comm/operation.h"
#include "trireme/comm/task.h"

namespace trireme::comm {

class Arena;

// What a backend guarantees. Callers and tests check these fields, never the backend's name.
struct BackendCapabilities {
  std::string_view name;
  bool aborts = false;          // abort() ends operations in flight at once
  bool names_mismatch = false;  // requests that differ fail with an error that names both
  bool names_the_dead = false;  // the death of a peer is detected and reported
  bool ordered_sums = false;    // supports ordered_sum; plain sums have an order fixed by rank
  bool rounds_once = false;     // 16-bit sums are rounded once
  bool shares_memory = false;   // spans in the arena are read and written in place
  bool reads_cuda = false;      // spans may lie in the memory of a GPU
};

class Backend {
 public:
  virtual ~Backend() = default;

  int rank() const noexcept { return me_; }
  int size() const noexcept { return static_cast<int>(members_.size()); }
  // The members' ranks in the job, in the order of this group.
  const std::vector<int>& job_ranks() const noexcept { return members_; }
  // This rank's rank in the job.
  int job_rank() const { return members_[static_cast<std::size_t>(me_)]; }
  // Memory that the members of this group share; null if they share none.
  const std::shared_ptr<Arena>& arena() const noexcept { return arena_; }
  // This rank's segment of that memory.
  int arena_member() const noexcept { return arena_member_; }

  virtual BackendCapabilities capabilities() const noexcept = 0;

  // The coroutine of one operation. `op` outlives it.
  virtual Task run(const Operation& op) = 0;

  // Announces that an operation with this number will be run, for backends whose operations run in
  // the order in which they were issued instead of the order in which they begin.
  virtual void expect(std::uint64_t sequence) { (void)sequence; }

  // The group has failed: data that still arrives for it is discarded.
  virtual void give_up() noexcept {}

  // A rank of the job has left normally: operations that it has not begun by now it will never
  // begin.
  virtual void depart(int job_rank) { (void)job_rank; }

  // The Deadline error for `op`. Its message says which ranks are missing, where they are and how
  // long this rank has waited.
  virtual Error stalled(const Operation& op, Duration waited) const = 0;

  // An error that another member announced to the group, if any. Polled while waiting.
  virtual std::optional<Error> failure() const = 0;

  // A failure of the transport that only this rank sees, such as a broken connection or invalid
  // bytes. The engine announces it, because the other members would otherwise wait for ranks that
  // are alive.
  virtual std::optional<Error> loss() const { return std::nullopt; }

  // Reports to the other members, if the transport can, that this rank has failed.
  virtual void announce(const Error& error) noexcept = 0;

  // The backend of a sub-group; null if this rank is not a member. `key` is the same on all members
  // and different for every group.
  virtual std::shared_ptr<Backend> subgroup(std::span<const int> ranks, std::uint64_t key) = 0;

  // By member: the number of its host, from 0 in the order of their first members. Members with the
  // same number share memory. By default all members do, or none.
  virtual std::vector<int> hosts() const;

 protected:
  // `members`: their ranks in the job; `me`: this rank, among them.
  Backend(std::vector<int> members, int me, std::shared_ptr<Arena> arena = nullptr,
          int arena_member = 0)
      : members_(std::move(members)),
        me_(me),
        arena_(std::move(arena)),
        arena_member_(arena_member) {}

  const std::vector<int> members_;
  const int me_;

 private:
  std::shared_ptr<Arena> arena_;
  int arena_member_;
};

}  // namespace trireme::comm
