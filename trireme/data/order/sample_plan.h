// SamplePlan computes which samples of an epoch a step uses and which of them each micro-batch
// (slot) runs.
//
// Semantics:     the step at a position uses the next n = min(batch, samples left in the epoch)
//                samples. A sample's place is its index among these; the sample itself is number
//                cursor + place in the epoch's order. Micro-batch v runs places [v*n/V, (v+1)*n/V):
//                every sample of an epoch is used exactly once, in order, for any V and batch. A
//                micro-batch may be empty. With weights, the micro-batches share the n places in
//                proportion to their weights instead. With is_last_dropped, a remainder of fewer
//                than `batch` samples is dropped at the end of the epoch.
// Thread safety: pure functions; any thread.
// Errors:        Misuse for invalid options; InvalidInput if an epoch would have no step.

#pragma once

#include <cstdint>
#include <vector>

#include "trireme/data/order/position.h"

namespace trireme::data {

// [begin, end)
struct Range {
  std::int64_t begin = 0;
  std::int64_t end = 0;

  std::int64_t count() const noexcept { return end - begin; }
  friend bool operator==(const Range&, const Range&) = default;
};

class SamplePlan {
 public:
  struct Options {
    std::int64_t count = 0;  // samples per epoch
    std::int64_t batch = 1;  // samples per step, over all micro-batches
    int micro_batches = 1;
    bool is_last_dropped = false;
    std::vector<std::int64_t> weights = {};  // by micro-batch; empty: all equal
  };

  explicit SamplePlan(const Options& options);

  const Options& options() const noexcept { return options_; }
  std::int64_t steps_an_epoch() const noexcept;

  // The same position, written as the beginning of the next epoch if this epoch has no step left.
  // Every function below does this first.
  Position settle(Position at) const;
  // The number of samples in this step, over all micro-batches; never 0.
  std::int64_t total(Position at) const;
  Range places(Position at, int micro_batch) const;
  Position after(Position at) const;

  // The largest number of places that the micro-batch can have in any step.
  std::int64_t places_max(int micro_batch) const;

 private:
  Range share(std::int64_t total, int micro_batch) const;

  Options options_;
  std::vector<std::int64_t> bounds_;  // cumulative weights of the micro-batches
};

}  // namespace trireme::data
