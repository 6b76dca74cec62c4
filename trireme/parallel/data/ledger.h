// Ledger says how far each rank of a host has come in a step, in memory that outlives its writer:
// survivors read the page of a rank that died, and finish what it had begun.
//
// A page belongs to a place in the arena. Its rank writes it:
//
//   begin(step)                   nothing is decided
//   prepare(figures)              every rank held its share of the step; what all agreed on
//   for each run: save, update    one run at a time; what it was is in the page until it is new
//   finish()                      its slices are updated
//
// Whoever finds the page of a dead rank between prepare and finish calls update() with the slices
// of that rank: a run that may be torn is put back first, then all goes on from there. If the
// heir dies too, the next one does the same.
//
// Cost:    an update also writes each run's old values and state to memory that stays in cache.
// Threads: a page has one writer at a time; others read it only when that one is dead, or has
//          stopped and said so.
// Failure: what Arena throws where there is no memory.

#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "trireme/base/fault.h"
#include "trireme/comm/arena.h"
#include "trireme/optim/optimizer.h"

namespace trireme::parallel::data {

inline constexpr FaultPoint kUpdating{"update.run"};  // saved, and about to change

class Ledger {
 public:
  enum class Phase : std::uint32_t { Open, Prepared, Finished };

  struct Shape {
    std::size_t figures = 0;       // that prepare() keeps
    std::size_t states = 0;        // of an element, besides its value
    std::size_t element_size = 4;  // bytes
    // Elements; at least as many as a slice has where the rule takes it whole.
    std::int64_t run_max = optim::kRunMax;
  };

  class Page {
   public:
    Page(std::byte* memory, const Shape& shape) : memory_(memory), shape_(shape) {}

    std::int64_t step() const noexcept;
    Phase phase() const noexcept;
    std::span<const double> figures() const noexcept;
    // Whatever its rank has noted in this step, more than 0; 0: nothing.
    std::int64_t mark() const noexcept;

    void begin(std::int64_t step) noexcept;
    void prepare(std::span<const double> figures) noexcept;
    void set_mark(std::int64_t mark) noexcept;
    // The slices of this page's rank, or what is left to do of them.
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

  // The same key and shape on all ranks. Pages stay until the arena goes.
  Ledger(std::shared_ptr<comm::Arena> arena, std::uint64_t key, const Shape& shape)
      : arena_(std::move(arena)), key_(key), shape_(shape) {}

  // Made when it is first asked for.
  Page page(int place) const;

 private:
  std::shared_ptr<comm::Arena> arena_;
  std::uint64_t key_;
  Shape shape_;
};

}  // namespace trireme::parallel::data
