// Deal is the arithmetic of batches: which samples of an epoch a step takes, and which of those a
// slot (virtual rank) runs.
//
// Meaning: the step at a position takes the next n = min(batch, what is left of the epoch) samples.
//          A sample's place is its index among these, and the sample itself is number cursor +
//          place of the epoch's order. Slot v runs places [v*n/V, (v+1)*n/V): every sample of an
//          epoch exactly once, in order, whatever V and the batch. A slot may get none. With
//          weights, slots share the n places in their proportion instead. With is_last_dropped, a
//          rest of fewer than `batch` samples ends the epoch instead.
// Threads: pure.
// Failure: Misuse for numbers that no loader has; InvalidInput where an epoch would have no step.

#pragma once

#include <cstdint>
#include <vector>

#include "trireme/data/position.h"

namespace trireme::data {

// [begin, end)
struct Range {
  std::int64_t begin = 0;
  std::int64_t end = 0;

  std::int64_t count() const noexcept { return end - begin; }
  friend bool operator==(const Range&, const Range&) = default;
};

class Deal {
 public:
  struct Options {
    std::int64_t count = 0;  // samples an epoch
    std::int64_t batch = 1;  // samples a step, over all slots
    int slots = 1;
    bool is_last_dropped = false;
    std::vector<std::int64_t> weights = {};  // by slot; empty: all alike
  };

  explicit Deal(const Options& options);

  const Options& options() const noexcept { return options_; }
  std::int64_t steps_an_epoch() const noexcept;
  std::int64_t samples_an_epoch() const noexcept;

  // The same place, written as the beginning of the next epoch where this one has no step left.
  // Each function below does so first.
  Position settle(Position at) const;
  // The samples of this step, over all slots; never 0.
  std::int64_t total(Position at) const;
  Range places(Position at, int slot) const;
  Position after(Position at) const;

  // The most places that the slot ever gets.
  std::int64_t places_max(int slot) const;

 private:
  Range share(std::int64_t total, int slot) const;

  Options options_;
  std::vector<std::int64_t> bounds_;  // of the slots, in weights
};

}  // namespace trireme::data
