// Backend is what an implementer of a transport writes; people use Group.
//
// A backend stands for one group of one rank: it turns Operations into Tasks that move data, and
// says what it can promise. Tasks are moved by the Engine; a backend owns no thread.
//
// Order:   run() is called with consecutive sequence numbers, the same on every member, except
//          for send and receive, which are matched by peer and tag.
// Failure: a Task throws Error; the group is dead from then on and the engine calls announce().

#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "trireme/base/clock.h"
#include "trireme/base/error.h"
#include "trireme/comm/operation.h"
#include "trireme/comm/task.h"

namespace trireme::comm {

class Arena;

// What a backend promises. Callers and tests ask these, never the backend's name.
struct Capabilities {
  std::string_view name;
  bool aborts = false;          // abort() ends what is in flight at once
  bool names_mismatch = false;  // different requests fail with both of them named
  bool names_the_dead = false;  // a peer's death is noticed and named
  bool ordered_sums = false;    // ordered_sum, and plain sums in an order fixed by rank
  bool rounds_once = false;     // 16-bit sums are rounded once
  bool shares_memory = false;   // spans in the arena are read and written in place
};

class Backend {
 public:
  virtual ~Backend() = default;

  virtual int rank() const noexcept = 0;
  virtual int size() const noexcept = 0;
  virtual Capabilities capabilities() const noexcept = 0;

  // The coroutine of one operation. `op` outlives it.
  virtual Task run(const Operation& op) = 0;

  // Says that an operation of this number will come, for backends whose operations run in the
  // order in which they were issued and not in which they begin.
  virtual void expect(std::uint64_t sequence) { (void)sequence; }

  // The group has failed: what still arrives for it is nobody's.
  virtual void give_up() noexcept {}

  // A rank of the job has left in order: what it has not begun by now it never will.
  virtual void depart(int job_rank) { (void)job_rank; }

  // Who is missing, where they are and for how long this rank has waited: the message of the
  // Deadline error for `op`.
  virtual Error stalled(const Operation& op, Duration waited) const = 0;

  // An error that another member announced to the group, if any. Polled while waiting.
  virtual std::optional<Error> failure() const = 0;

  // What this rank alone sees of its transport: a connection that broke, bytes that cannot be. The
  // engine announces it, since the others would wait for ranks that live.
  virtual std::optional<Error> loss() const { return std::nullopt; }

  // Tells the other members, as far as the transport can, that this rank has failed.
  virtual void announce(const Error& error) noexcept = 0;

  // The members' ranks in the job, in the order of this group.
  virtual std::vector<int> job_ranks() const = 0;

  // This rank's number in the job.
  int job_rank() const { return job_ranks()[static_cast<std::size_t>(rank())]; }

  // The backend of a sub-group; null where this rank is no member. `key` is equal on all members
  // and new for every group.
  virtual std::shared_ptr<Backend> subgroup(std::span<const int> ranks, std::uint64_t key) = 0;

  // Memory that this group's members share, if they do.
  virtual std::shared_ptr<Arena> arena() const { return nullptr; }
  // By member: the number of its host, from 0 in the order of their first members. Members with the
  // same number share memory; by default all do, or none.
  virtual std::vector<int> hosts() const;
  // This rank's segment of that memory.
  virtual int arena_member() const noexcept { return 0; }
};

}  // namespace trireme::comm
