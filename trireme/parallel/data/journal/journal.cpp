#include "trireme/parallel/data/journal/journal.h"

#include <algorithm>
#include <utility>

namespace trireme::parallel::data {

void Journal::open(std::shared_ptr<comm::Arena> arena, std::uint64_t key,
                   const Ledger::Shape& shape, int place) {
  ledger_.emplace(std::move(arena), key, shape);
  page_ = ledger_->page(place);
}

void Journal::begin(std::int64_t step) {
  if (page_) page_->begin(step);
}

void Journal::prepare(const Prepared& prepared) {
  if (page_) page_->prepare(prepared.figures);
}

void Journal::finish() {
  if (page_) page_->finish();
}

std::vector<double> Journal::prepared(std::int64_t step) const {
  if (!ledger_) return {};
  for (const int place : places_) {
    const Ledger::Page page = ledger_->page(place);
    // A rank that has begun the next step had prepared this one, and kept the figures.
    const bool is_prepared =
        page.step() == step ? page.phase() != Ledger::Phase::Open : page.step() == step + 1;
    if (is_prepared) return {page.figures().begin(), page.figures().end()};
  }
  return {};
}

std::int64_t Journal::last_mark() const {
  std::int64_t last = 0;
  for (std::size_t i = 0; ledger_ && i < places_.size(); ++i) {
    last = std::max(last, ledger_->page(places_[i]).mark());
  }
  return last;
}

std::vector<int> successors_of(std::span<const int> cut, std::span<const int> living) {
  const auto is_in = [](std::span<const int> places, int place) {
    return std::find(places.begin(), places.end(), place) != places.end();
  };
  // A rank that joined since does not know the step.
  std::vector<int> able;
  for (const int place : living) {
    if (is_in(cut, place)) able.push_back(place);
  }
  std::vector<int> successors;
  std::size_t failed = 0;
  for (const int place : cut) {
    successors.push_back(is_in(able, place) ? place : able[failed++ % able.size()]);
  }
  return successors;
}

}  // namespace trireme::parallel::data
