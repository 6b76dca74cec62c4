// Residuals is the memory for one rank's error-feedback residuals, followed by the state that its
// codec keeps from step to step; both are floats.
//
//   residuals.begin(step);
//   std::span<float> own = residuals.open({begin, end});   // current values, to be overwritten
//   residuals.commit();                                    // the step is complete; they count now
//
// If a step may be dropped or run again (is_undoable), there are two versions: values that were
// opened but not committed are discarded when a step begins. If ranks share memory, both versions
// are there, and another rank can take over the residuals of a failed rank as they are after the
// last completed step, even if their owner died before commit().
//
// Errors:        what Arena throws.
// Thread safety: one thread at a time. REQUIRES for inherit(): the owner is dead.

#pragma once

#include <ATen/core/Tensor.h>

#include <atomic>
#include <cstdint>
#include <memory>
#include <span>

#include "trireme/comm/arena.h"
#include "trireme/parallel/data/plan/bucket_plan.h"

namespace trireme::parallel::data {

class Residuals {
 public:
  // For ranks that share memory: one block per place, which all ranks find by the key.
  struct SharedResiduals {
    std::shared_ptr<comm::Arena> arena{};  // null: this rank alone can read them
    std::uint64_t key = 0;
    int place = 0;
  };
  struct Options {
    std::int64_t residual = 0;  // floats
    std::int64_t kept = 0;      // floats of codec state after them
    bool is_undoable = false;
    SharedResiduals shared{};
  };
  // Initially zero, even if another rank had the place before.
  explicit Residuals(Options options);

  // The values after the last completed step.
  at::Tensor current() const { return mine_.versions[index_]; }
  // The values after commit(), if all of them have been opened since.
  at::Tensor opened() const { return mine_.versions[is_open_ ? 1 - index_ : index_]; }

  void begin(std::int64_t step);
  // Discards opened values.
  void undo();
  std::span<float> open(const ElementRange& range);
  void commit();

  // Adds the residuals of the rank that had this place, as of `last`, the last step whose residuals
  // count. Only the first caller gets them. If this rank dies meanwhile, they may be lost. A
  // Follower replaces the failed rank, has no codec state yet, and takes that over, too; a
  // Successor does not.
  enum class As : std::uint8_t { Successor, Follower };
  void inherit(int place, std::int64_t last, As as = As::Successor);

 private:
  struct Memory {
    std::atomic<std::uint64_t>* mark = nullptr;
    at::Tensor versions[2];
  };
  Memory at(int place) const;
  Memory in(const at::Tensor& bytes) const;
  std::size_t size() const;

  Options options_;
  Memory mine_;
  std::size_t index_ = 0;  // of the current version
  std::int64_t step_ = -1;
  bool is_open_ = false;  // in this step
};

}  // namespace trireme::parallel::data
