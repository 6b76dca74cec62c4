// Journal records how far this rank has come in a step, in memory that outlives the process, and
// finds out the same about ranks of this host that died (see ledger.h for the memory itself).
//
// Without a ledger (a job that is not elastic, or whose ranks keep all state themselves) nothing is
// recorded, and failed ranks leave nothing to finish.
//
// Thread safety: one thread.

#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "trireme/parallel/commit_journal.h"
#include "trireme/parallel/data/journal/ledger.h"

namespace trireme::parallel::data {

class Journal final : public CommitJournal {
 public:
  // `place` is this rank's in the arena.
  void open(std::shared_ptr<comm::Arena> arena, std::uint64_t key, const Ledger::Shape& shape,
            int place);
  bool is_open() const noexcept { return page_.has_value(); }

  // The places of the ranks that cut the shards.
  void set_places(std::vector<int> places) { places_ = std::move(places); }

  void begin(std::int64_t step) override;
  void prepare(const Prepared& prepared) override;
  void finish() override;
  // The page through which this rank's shards are updated. REQUIRES: is_open().
  Ledger::Page& page() { return *page_; }
  // The page of the rank at a place. REQUIRES: is_open().
  Ledger::Page page_of(int place) const { return ledger_->page(place); }

  std::vector<double> prepared(std::int64_t step) const override;

  // A number that a rank records for its current step, and the largest of all places.
  void set_mark(std::int64_t mark) { page_->set_mark(mark); }
  std::int64_t last_mark() const;

 private:
  std::optional<Ledger> ledger_;
  std::optional<Ledger::Page> page_;  // this rank's
  std::vector<int> places_;
};

// By rank of a cut, given by places: the place of the rank that completes its update. Ranks that
// are alive complete their own; `living` are the places that exist now.
std::vector<int> successors_of(std::span<const int> cut, std::span<const int> living);

}  // namespace trireme::parallel::data
