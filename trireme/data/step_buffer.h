// StepBuffer is the memory of one step's batches. Tensors are allocated once and reused for every
// later step of the same size.
//
// Semantics:     where a sample is written depends only on the step's position, so any thread may
//                fill any part in any order.
// Reuse:         a tensor that other code still holds is left to it, and a new one is allocated.
// Thread safety: fill() of disjoint ranges from any threads; everything else from one thread while
//                no thread is filling.

#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "trireme/data/batch.h"
#include "trireme/data/order/order.h"
#include "trireme/data/order/returned.h"
#include "trireme/data/order/sample_plan.h"
#include "trireme/data/source/source.h"

namespace trireme::data {

class StepBuffer {
 public:
  // `is_pinned`: the memory can be copied to a GPU while the host goes on. REQUIRES: a GPU.
  StepBuffer(std::shared_ptr<const Source> source, const Order& order, std::uint64_t seed,
             bool is_pinned = false);

  // Allocates the batches of these micro-batches in the step at `at`.
  void prepare(const SamplePlan& plan, Position at, const std::vector<int>& mine);
  // Allocates one batch for returned samples; the first has this place in its step.
  void prepare(const Returned& samples, std::int64_t place);
  // Total number of samples, over all micro-batches.
  std::int64_t count() const noexcept { return count_; }
  // Reads samples begin .. end-1, counted over the micro-batches in order.
  void fill(std::int64_t begin, std::int64_t end) const;
  // Removes the samples that fill() found to be bad; returns the reason for each.
  std::vector<std::string> drop_bad();

  const StepBatches& batches() const noexcept { return step_; }

 private:
  // The tensors of one micro-batch, at the largest size so far.
  struct Room {
    Batch whole;
    Range places;         // places in the step
    std::int64_t at = 0;  // position of the first sample in the epoch's order
    // By row; "" for a good sample. Empty if bad samples are errors.
    mutable std::vector<std::string> complaints = {};
  };

  void make_room(Room& room, std::int64_t rows) const;
  void add_batch(Room& room);
  void read_row(const Room& room, std::int64_t row) const;

  std::shared_ptr<const Source> source_;
  Order order_;
  std::uint64_t seed_;
  bool is_pinned_;
  std::vector<Room> rooms_;
  StepBatches step_;
  std::int64_t count_ = 0;
};

}  // namespace trireme::data
