#include "trireme/parallel/data/ledger.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstring>
#include <limits>

#include "trireme/base/check.h"
#include "trireme/base/deadline.h"

namespace trireme::parallel::data {
namespace {

constexpr auto kPageMax = std::chrono::seconds(10);

std::size_t round_up(std::size_t size) {
  return (size + 63) / 64 * 64;
}

// A slice's elements from `begin` on.
optim::Slice part_of(const optim::Slice& slice, std::int64_t begin, std::int64_t count) {
  if (count == slice.value.numel()) return slice;
  optim::Slice part{.value = slice.value.narrow(0, begin, count),
                    .gradient = slice.gradient.narrow(0, begin, count),
                    .state = {},
                    .learning_rate = slice.learning_rate,
                    .weight_decay = slice.weight_decay,
                    .first_step = slice.first_step};
  for (const at::Tensor& state : slice.state) part.state.push_back(state.narrow(0, begin, count));
  return part;
}

}  // namespace

// `done` counts chunks in steps of two; an odd one says that the next chunk is saved and may be
// torn.
struct Ledger::Page::Header {
  std::atomic<std::int64_t> step;
  std::atomic<std::uint32_t> phase;
  std::atomic<std::uint64_t> done;
};

Ledger::Page Ledger::page(int place) const {
  const std::size_t figures = round_up(shape_.figures * sizeof(double));
  const std::size_t journal =
      static_cast<std::size_t>(shape_.chunk) * shape_.element_size * (1 + shape_.states);
  // Never given back: the rank that makes a page is seldom the one that ends last.
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
  header().done.store(0, std::memory_order_release);
  header().step.store(step, std::memory_order_release);
}

void Ledger::Page::prepare(std::span<const double> figures) noexcept {
  std::memcpy(memory_ + 64, figures.data(), std::min(figures.size(), shape_.figures) * 8);
  header().phase.store(static_cast<std::uint32_t>(Phase::Prepared), std::memory_order_release);
}

void Ledger::Page::finish() noexcept {
  header().phase.store(static_cast<std::uint32_t>(Phase::Finished), std::memory_order_release);
}

void Ledger::Page::copy_chunk(const optim::Slice& chunk, bool is_back) const {
  std::byte* saved = journal();
  const auto copy = [&](const at::Tensor& tensor) {
    TRIREME_CHECK_EQ(static_cast<std::size_t>(tensor.element_size()), shape_.element_size,
                     "an element of the ledger");
    const std::size_t size = tensor.nbytes();
    if (is_back) {
      std::memcpy(tensor.mutable_data_ptr(), saved, size);
    } else {
      std::memcpy(saved, tensor.const_data_ptr(), size);
    }
    saved += size;
  };
  copy(chunk.value);
  for (const at::Tensor& state : chunk.state) copy(state);
}

void Ledger::Page::update(std::span<const optim::Slice> slices, const optim::Optimizer& optimizer,
                          std::int64_t number, double scale, Faults* faults, int rank) {
  std::atomic<std::uint64_t>& done = header().done;
  std::uint64_t chunk = 0;
  for (const optim::Slice& slice : slices) {
    const std::int64_t count = slice.value.numel();
    for (std::int64_t begin = 0; begin < count; begin += shape_.chunk, ++chunk) {
      const std::uint64_t before = done.load(std::memory_order_acquire);
      if (before / 2 > chunk) continue;
      const optim::Slice part = part_of(slice, begin, std::min(shape_.chunk, count - begin));
      copy_chunk(part, /*is_back=*/before == 2 * chunk + 1);
      done.store(2 * chunk + 1, std::memory_order_release);
      reach(faults, kUpdating, rank);
      optimizer.update({&part, 1}, number, scale);
      done.store(2 * chunk + 2, std::memory_order_release);
    }
  }
}

}  // namespace trireme::parallel::data
