// The backend of ranks that share an arena: processes that map it, or threads of one process. Both
// use the same implementation, so the thread sanitizer checks the code that processes run.
//
// Data moves in one of three ways. Every member makes the same choice, from the sizes and the
// location of the spans: small input is stored in the lane (eager); spans in the arena are read and
// written in place (direct); ordinary memory is copied through the lanes in pipelined windows
// (staged).

#pragma once

#include <memory>
#include <set>
#include <span>

#include "trireme/base/fault.h"
#include "trireme/comm/algorithm/plan.h"
#include "trireme/comm/backend.h"
#include "trireme/comm/engine.h"
#include "trireme/comm/shm/lanes.h"
#include "trireme/comm/shm/mailbox.h"

namespace trireme::comm::shm {

// Every operation passes these points; tests and fault injection use them.
inline constexpr FaultPoint kBeforeEnter{"shm.before_enter"};
inline constexpr FaultPoint kEntered{"shm.entered"};
inline constexpr FaultPoint kHalfway{"shm.halfway"};
// While accessing memory of other members in place.
inline constexpr FaultPoint kTouching{"shm.touching"};
inline constexpr FaultPoint kBeforeFinish{"shm.before_finish"};

// Sleeps on this rank's doorbell in the arena.
class DoorbellSource final : public ProgressSource {
 public:
  DoorbellSource(std::shared_ptr<Arena> arena, int arena_member)
      : arena_(std::move(arena)), bell_(arena_->doorbell(arena_member)) {}

  bool poll() override { return false; }
  void prepare_sleep() override;
  void sleep(Duration longest) override;
  void finish_sleep() override { bell_.is_asleep.store(0, std::memory_order_seq_cst); }
  void wake() noexcept override;

 private:
  std::shared_ptr<Arena> arena_;
  Arena::Doorbell& bell_;
  std::uint32_t seen_ = 0;
};

class SharedBackend final : public Backend {
 public:
  SharedBackend(std::shared_ptr<Arena> arena, std::vector<Lanes::Member> members, int me,
                std::uint64_t key, Faults* faults = nullptr, std::uint64_t epoch = 0);

  BackendCapabilities capabilities() const noexcept override;
  Task run(const Operation& op) override;
  void expect(std::uint64_t sequence) override { unfinished_.insert(sequence); }
  Error stalled(const Operation& op, Duration waited) const override;
  void give_up() noexcept override { lanes_.exposure().close(); }
  void depart(int job_rank) override { lanes_.note_departure(job_rank); }
  std::optional<Error> failure() const override;
  void announce(const Error& error) noexcept override { lanes_.announce(error); }
  std::shared_ptr<Backend> subgroup(std::span<const int> ranks, std::uint64_t key) override;

 private:
  Task collective(const Operation& op);
  Task all_reduce(const Operation& op, bool is_eager);
  Task all_reduce_direct(const Operation& op);
  Task all_reduce_staged(const Operation& op);
  Task exchange(const Operation& op, bool is_eager);
  Task exchange_staged(const Operation& op);

  void enter(const Operation& op, bool is_eager);
  void finish(const Operation& op);
  bool is_direct(const Operation& op) const;
  bool is_oldest(const Operation& op) const { return *unfinished_.begin() == op.sequence; }
  Slot& mine(const Operation& op) const { return lanes_.slot(lanes_.me(), op.sequence); }
  void pass(FaultPoint point) const;
  // Runs `touch`, which accesses memory of other members. Returns false, possibly without running
  // it, if one of them has given up.
  template <class Touch>
  bool stride(Touch&& touch) const {
    return lanes_.exposure().stride([&] {
      pass(kTouching);
      touch();
    });
  }

  Lanes lanes_;
  Mailbox mailbox_;
  std::uint64_t key_;
  Faults* faults_;
  // Operations that have begun and not finished on this rank. Staged operations share the windows:
  // one may begin only when it is the oldest here. That order is the same on every member.
  std::set<std::uint64_t> unfinished_;
};

}  // namespace trireme::comm::shm
