// StepBuffer is the memory of one step's batches, filled again and again: tensors are made once and
// used for every later step of the same size.
//
// Meaning: what is written where follows from the step's position alone, so that any threads may
//          fill any parts in any order.
// Safety:  a tensor that somebody outside still holds is left to them, and a new one made.
// Threads: fill() of disjoint ranges from any threads; everything else by one thread, with none
//          filling.

#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "trireme/data/batch.h"
#include "trireme/data/deal.h"
#include "trireme/data/order.h"
#include "trireme/data/source.h"

namespace trireme::data {

class StepBuffer {
 public:
  StepBuffer(std::shared_ptr<const Source> source, const Order& order, std::uint64_t seed);

  // Makes room for the batches of these slots in the step at `at`.
  void prepare(const Deal& deal, Position at, const std::vector<int>& mine);
  // Of all slots together.
  std::int64_t count() const noexcept { return count_; }
  // Reads samples begin .. end-1 of these, counted over the slots in turn.
  void fill(std::int64_t begin, std::int64_t end) const;

  const StepBatches& batches() const noexcept { return step_; }

 private:
  // The tensors of one slot at the largest size that it has had.
  struct Room {
    Batch whole;
    Range places;
  };

  void make_room(Room& room, std::int64_t rows) const;
  void read_row(const Room& room, std::int64_t row) const;

  std::shared_ptr<const Source> source_;
  Order order_;
  std::uint64_t seed_;
  std::vector<Room> rooms_;
  StepBatches step_;
  std::int64_t count_ = 0;
};

}  // namespace trireme::data
