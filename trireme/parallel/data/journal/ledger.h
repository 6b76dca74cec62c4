// Ledger records the progress of each rank of a host in a step, in shared memory that outlives the
// rank: live ranks read the page of a failed rank and finish its update.
//
// A page belongs to a place in the arena. Its rank writes it:
//
//   begin(step)                   the step may still fail
//   prepare(figures)              every rank has its part of the step; `figures` are the sums
//   for each run: save, update    the page holds the old values of a run until it is updated
//   finish()                      the rank's shards are updated
//
// A rank that finds the page of a failed rank between prepare and finish calls update() with the
// shards of that rank. update() first restores a run that may be half written, and continues from
// there. If that rank fails, too, the next one does the same.
//
// Cost:          an update also copies each run's old values and state to memory that stays in the
//                cache.
// Errors:        what Arena throws.
// Thread safety: a page has one writer at a time; other ranks read it only when the writer is dead,
//                or has stopped and reported that.

#pragma once

#include <cstdint>
#include <memory>
#include <span>

#include "trireme/base/fault.h"
#include "trireme/comm/arena.h"
#include "trireme/optim/optimizer.h"

namespace trireme::parallel::data {

inline constexpr FaultPoint kUpdating{"update.run"};  // a run is saved and will now change

class Ledger {
 public:
  enum class Phase : std::uint32_t { Open, Prepared, Finished };

  struct Shape {
    std::size_t figures = 0;       // numbers that prepare() stores
    std::size_t states = 0;        // optimizer states per element
    std::size_t element_size = 4;  // bytes
    // The maximum number of elements of a run; at least the size of a shard if the update rule
    // needs whole shards.
    std::int64_t run_max = optim::kRunMax;
  };

  class Page {
   public:
    Page(std::byte* memory, const Shape& shape) : memory_(memory), shape_(shape) {}

    std::int64_t step() const noexcept;
    Phase phase() const noexcept;
    std::span<const double> figures() const noexcept;
    // The mark that the rank has set in this step, greater than 0; 0: none.
    std::int64_t mark() const noexcept;

    void begin(std::int64_t step) noexcept;
    void prepare(std::span<const double> figures) noexcept;
    void set_mark(std::int64_t mark) noexcept;
    // Updates the shards of this page's rank, or the part of them that is not updated yet.
    void update(std::span<const optim::Slice> slices, const optim::Optimizer& optimizer,
                std::int64_t number, double scale, Faults* faults = nullptr, int rank = 0);
    void finish() noexcept;

   private:
    struct Header;
    Header& header() const noexcept;
    std::byte* journal() const noexcept;
    class Saving;
    void save(const optim::Slice& slice, std::int64_t begin, std::int64_t count) const;
    void put_back(const optim::Slice& slice, std::int64_t begin, std::int64_t count) const;

    std::byte* memory_;
    Shape shape_;
  };

  // REQUIRES: the same key and shape on all ranks. Pages live as long as the arena.
  Ledger(std::shared_ptr<comm::Arena> arena, std::uint64_t key, const Shape& shape)
      : arena_(std::move(arena)), key_(key), shape_(shape) {}

  // Creates the page at the first call.
  Page page(int place) const;

 private:
  std::shared_ptr<comm::Arena> arena_;
  std::uint64_t key_;
  Shape shape_;
};

}  // namespace trireme::parallel::data
