#include "trireme/parallel/data/journal/ledger.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstring>
#include <limits>
#include <vector>

#include "trireme/base/check.h"
#include "trireme/base/deadline.h"
#include "trireme/optim/run_slices.h"

namespace trireme::parallel::data {
namespace {

constexpr auto kPageMax = std::chrono::seconds(10);
constexpr std::size_t kPrefetchMax = 1024;  // bytes of a short run

std::size_t round_up(std::size_t size) {
  return (size + 63) / 64 * 64;
}

// Calls visit(elements, size) for the values and each state of a run, always in the same order.
template <class Visit>
void each_part(const optim::Slice& slice, std::int64_t begin, std::int64_t count,
               std::size_t element_size, const Visit& visit) {
  const auto at = static_cast<std::size_t>(begin) * element_size;
  const auto size = static_cast<std::size_t>(count) * element_size;
  const auto one = [&](const at::Tensor& tensor) {
    visit(static_cast<std::byte*>(tensor.mutable_data_ptr()) + at, size);
  };
  one(slice.value);
  for (const at::Tensor& state : slice.state) one(state);
}

}  // namespace

// `done` is twice the number of updated elements. If it is odd, the next `saved` elements are in
// the journal and may be half written.
struct Ledger::Page::Header {
  std::atomic<std::int64_t> step;
  std::atomic<std::uint32_t> phase;
  std::atomic<std::int64_t> done;
  std::atomic<std::int64_t> saved;
  std::atomic<std::int64_t> mark;
};

// Saves each run in the page before it changes, and records the progress of the update.
class Ledger::Page::Saving final : public optim::Guard {
 public:
  Saving(const Page& page, std::int64_t done, Faults* faults, int rank)
      : page_(page), header_(page.header()), end_(done), faults_(faults), rank_(rank) {}

  void before(const optim::Slice& slice, std::int64_t begin, std::int64_t count) override {
    const std::int64_t done = end();
    page_.save(slice, begin, count);
    header_.saved.store(count, std::memory_order_release);
    header_.done.store(2 * done + 1, std::memory_order_release);
    // A release store only orders earlier writes. The fence keeps the compiler from moving the
    // update of the run before the store.
    std::atomic_signal_fence(std::memory_order_seq_cst);
    end_ = done + count;
    reach(faults_, kUpdating, rank_);
  }

  // Records that all runs so far are updated.
  std::int64_t end() const {
    header_.done.store(2 * end_, std::memory_order_release);
    std::atomic_signal_fence(std::memory_order_seq_cst);
    return end_;
  }

 private:
  const Page& page_;
  Header& header_;
  std::int64_t end_;
  Faults* faults_;
  int rank_;
};

Ledger::Page Ledger::page(int place) const {
  const std::size_t figures = round_up(shape_.figures * sizeof(double));
  const std::size_t journal =
      static_cast<std::size_t>(shape_.run_max) * shape_.element_size * (1 + shape_.states);
  // Pages are never released, because the rank that creates a page is seldom the last to end.
  std::byte* memory =
      arena_->find_or_make(key_ + 2 * static_cast<std::uint64_t>(place), 64 + figures + journal,
                           std::numeric_limits<int>::max(), Deadline::after(kPageMax));
  return {memory, shape_};
}

Ledger::Page::Header& Ledger::Page::header() const noexcept {
  static_assert(sizeof(Header) <= 64);
  return *reinterpret_cast<Header*>(memory_);
}

std::byte* Ledger::Page::journal() const noexcept {
  return memory_ + 64 + round_up(shape_.figures * sizeof(double));
}

std::int64_t Ledger::Page::step() const noexcept {
  return header().step.load(std::memory_order_acquire);
}

Ledger::Phase Ledger::Page::phase() const noexcept {
  return static_cast<Phase>(header().phase.load(std::memory_order_acquire));
}

std::span<const double> Ledger::Page::figures() const noexcept {
  return {reinterpret_cast<const double*>(memory_ + 64), shape_.figures};
}

void Ledger::Page::begin(std::int64_t step) noexcept {
  header().phase.store(static_cast<std::uint32_t>(Phase::Open), std::memory_order_release);
  // The phase is stored before the step, so that a page of the previous step never looks as if its
  // update were unfinished.
  header().step.store(step, std::memory_order_release);
  header().done.store(0, std::memory_order_release);
  header().mark.store(0, std::memory_order_release);
}

std::int64_t Ledger::Page::mark() const noexcept {
  return header().mark.load(std::memory_order_acquire);
}

void Ledger::Page::set_mark(std::int64_t mark) noexcept {
  header().mark.store(mark, std::memory_order_release);
  // The compiler must not move later writes before the mark.
  std::atomic_signal_fence(std::memory_order_seq_cst);
}

void Ledger::Page::prepare(std::span<const double> figures) noexcept {
  std::memcpy(memory_ + 64, figures.data(), std::min(figures.size(), shape_.figures) * 8);
  header().phase.store(static_cast<std::uint32_t>(Phase::Prepared), std::memory_order_release);
}

void Ledger::Page::finish() noexcept {
  header().phase.store(static_cast<std::uint32_t>(Phase::Finished), std::memory_order_release);
}

void Ledger::Page::save(const optim::Slice& slice, std::int64_t begin, std::int64_t count) const {
  TRIREME_CHECK(count <= shape_.run_max, "a run of ", count,
                " elements is too long for the ledger");
  std::byte* saved = journal();
  const std::int64_t left = slice.value.numel() - begin - count;
  const std::size_t ahead =
      std::min(kPrefetchMax, static_cast<std::size_t>(left) * shape_.element_size);
  each_part(slice, begin, count, shape_.element_size, [&](std::byte* data, std::size_t size) {
    std::memcpy(saved, data, size);
    // Prefetches the next run while this one is computed.
    for (std::size_t line = 0; line < ahead; line += 64) __builtin_prefetch(data + size + line, 1);
    saved += size;
  });
}

void Ledger::Page::put_back(const optim::Slice& slice, std::int64_t begin,
                            std::int64_t count) const {
  const std::byte* saved = journal();
  each_part(slice, begin, count, shape_.element_size, [&](std::byte* data, std::size_t size) {
    std::memcpy(data, saved, size);
    saved += size;
  });
}

void Ledger::Page::update(std::span<const optim::Slice> slices, const optim::Optimizer& optimizer,
                          std::int64_t number, double scale, Faults* faults, int rank) {
  const std::int64_t mark = header().done.load(std::memory_order_acquire);
  const std::int64_t done = mark / 2;
  std::vector<optim::Slice> left;
  std::int64_t end = 0;
  for (const optim::Slice& slice : slices) {
    optim::check_slice(slice, shape_.states);
    TRIREME_CHECK_EQ(static_cast<std::size_t>(slice.value.element_size()), shape_.element_size,
                     "bytes per element of the ledger");
    const std::int64_t count = slice.value.numel();
    const std::int64_t begin = std::max<std::int64_t>(done - end, 0);
    end += count;
    if (begin >= count) continue;
    const bool is_torn = left.empty() && mark % 2 == 1;
    if (is_torn) {
      const std::int64_t saved = header().saved.load(std::memory_order_acquire);
      TRIREME_CHECK(saved >= 1 && saved <= std::min(count - begin, shape_.run_max),
                    "the ledger is corrupt: it claims to have saved ", saved, " of ", count - begin,
                    " elements");
      put_back(slice, begin, saved);
    }
    left.push_back(slice.part(begin, count - begin));
  }
  Saving saving(*this, done, faults, rank);
  optimizer.update(left, number, scale, &saving);
  TRIREME_CHECK_EQ(saving.end(), std::max(end, done),
                   "elements that the optimizer reported to its guard");
}

}  // namespace trireme::parallel::data
