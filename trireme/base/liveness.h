// Liveness is the progress that a worker reports to the workers that wait for it. A heartbeat
// thread shows only that the process runs; Liveness shows whether its training advances.
//
//   Liveness::Waiting waiting(liveness);           // until the scope ends: waits for other ranks
//   Liveness::LongPhase evaluating(liveness);      // may run for a long time without any progress
//   liveness->end_step(elapsed);
//
// Moves:         a counter that increases whenever a step or a collective ends.
// Waits:         a worker that waits in a collective leaves the Waiting scope for moments, to look
//                for messages. A reader therefore takes a worker as waiting if it is in the scope
//                or has entered it again since the last report.
// Start:         a Liveness begins in a long phase, which the first end_step() ends.
// Null:          the scopes accept a null pointer and then do nothing.
// Thread safety: any thread may read or hold scopes; only one thread may call end_step().

#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

#include "trireme/base/clock.h"

namespace trireme {

class Liveness {
 public:
  struct Report {
    std::uint64_t moves = 0;
    std::uint64_t waits = 0;  // how many Waiting scopes have begun
    bool is_waiting = false;
    bool is_in_long_phase = false;
    Duration step{};  // median of the last steps; zero if no step has ended

    friend bool operator==(const Report&, const Report&) = default;
  };

  Report report() const noexcept;
  void move() noexcept { ++moves_; }
  // Also counts as a move.
  void end_step(Duration length) noexcept;

  class Waiting {
   public:
    explicit Waiting(Liveness* of) noexcept : of_(of) {
      if (of_ != nullptr) ++of_->waits_begun_;
    }
    ~Waiting() {
      if (of_ != nullptr) ++of_->waits_ended_;
    }
    Waiting(const Waiting&) = delete;
    Waiting& operator=(const Waiting&) = delete;

   private:
    Liveness* of_;
  };

  class LongPhase {
   public:
    explicit LongPhase(Liveness* of) noexcept : of_(of) {
      if (of_ != nullptr) ++of_->long_phases_;
    }
    ~LongPhase() {
      if (of_ == nullptr) return;
      of_->move();
      --of_->long_phases_;
    }
    LongPhase(const LongPhase&) = delete;
    LongPhase& operator=(const LongPhase&) = delete;

   private:
    Liveness* of_;
  };

 private:
  std::atomic<std::uint64_t> moves_ = 0;
  std::atomic<std::uint64_t> waits_begun_ = 0;
  std::atomic<std::uint64_t> waits_ended_ = 0;
  std::atomic<int> long_phases_ = 1;  // 1: the initial long phase
  std::atomic<Duration::rep> step_ = 0;
  std::array<Duration, 15> last_steps_{};  // only used by the thread that ends steps
  std::size_t steps_ = 0;                  // only used by the thread that ends steps
};

}  // namespace trireme
