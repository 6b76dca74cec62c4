#include "trireme/parallel/data/coded/residuals.h"

#include <ATen/ops/from_blob.h>
#include <ATen/ops/zeros.h>
#include <c10/core/GradMode.h>

#include <algorithm>
#include <chrono>
#include <limits>
#include <utility>

#include "trireme/base/deadline.h"

namespace trireme::parallel::data {
namespace {

constexpr std::size_t kHead = 64;  // bytes, for the mark
constexpr auto kResidualsMax = std::chrono::seconds(10);
constexpr std::uint64_t kTaken = ~std::uint64_t{0};

// Encodes the index of the current version, and the step that writes the other one.
std::uint64_t mark_of(std::size_t index, std::int64_t step) {
  return static_cast<std::uint64_t>(step + 1) << 1 | index;
}

std::int64_t version_size(std::int64_t count) {
  return (count * 4 + 63) / 64 * 64;
}

}  // namespace

Residuals::Residuals(Options options) : options_(std::move(options)) {
  const c10::NoGradGuard no_grad;
  if (options_.shared.arena) {
    mine_ = at(options_.shared.place);
  } else {
    mine_ = in(at::zeros({static_cast<std::int64_t>(size())}, at::kByte));
  }
  mine_.mark->store(mark_of(0, -1), std::memory_order_release);
  for (const at::Tensor& version : mine_.versions) version.zero_();
}

std::size_t Residuals::size() const {
  const std::int64_t versions = options_.is_undoable ? 2 : 1;
  return kHead +
         static_cast<std::size_t>(versions * version_size(options_.residual + options_.kept));
}

Residuals::Memory Residuals::in(const at::Tensor& bytes) const {
  auto* data = static_cast<std::byte*>(bytes.mutable_data_ptr());
  const std::int64_t count = options_.residual + options_.kept;
  Memory memory{.mark = reinterpret_cast<std::atomic<std::uint64_t>*>(data), .versions = {}};
  std::byte* begin = data + kHead;
  for (at::Tensor& version : memory.versions) {
    // The deleter keeps the bytes alive as long as the tensor.
    version = at::from_blob(begin, {count}, [bytes](void*) {}, at::TensorOptions(at::kFloat));
    if (options_.is_undoable) begin += version_size(count);
  }
  return memory;
}

// Blocks are never released, because it is not known which rank ends last.
Residuals::Memory Residuals::at(int place) const {
  const SharedResiduals& shared = options_.shared;
  std::byte* data =
      shared.arena->find_or_make(shared.key + 2 * static_cast<std::uint64_t>(place), size(),
                                 std::numeric_limits<int>::max(), Deadline::after(kResidualsMax));
  return in(at::from_blob(
      data, {static_cast<std::int64_t>(size())}, [arena = shared.arena](void*) {},
      at::TensorOptions(at::kByte)));
}

void Residuals::begin(std::int64_t step) {
  step_ = step;
  undo();
}

void Residuals::undo() {
  if (!std::exchange(is_open_, false)) return;
  mine_.mark->store(mark_of(index_, -1), std::memory_order_release);
}

std::span<float> Residuals::open(const ElementRange& range) {
  const auto count = static_cast<std::size_t>(range.count());
  const auto at = [&](std::size_t version) {
    return mine_.versions[version].mutable_data_ptr<float>() + range.begin;
  };
  if (!options_.is_undoable) return {at(index_), count};
  if (!std::exchange(is_open_, true)) {
    mine_.mark->store(mark_of(index_, step_), std::memory_order_release);
  }
  std::copy_n(at(index_), count, at(1 - index_));
  return {at(1 - index_), count};
}

void Residuals::commit() {
  if (!std::exchange(is_open_, false)) return;
  index_ = 1 - index_;
  mine_.mark->store(mark_of(index_, -1), std::memory_order_release);
}

void Residuals::inherit(int place, std::int64_t last, As as) {
  const std::int64_t taken = options_.residual + (as == As::Follower ? options_.kept : 0);
  if (!options_.shared.arena || taken == 0) return;
  const c10::NoGradGuard no_grad;
  const Memory theirs = at(place);
  const std::uint64_t mark = theirs.mark->exchange(kTaken, std::memory_order_acq_rel);
  if (mark == kTaken) return;
  std::size_t counts = mark & 1;
  // The failed rank had written its residuals of the last step, but died before commit().
  if (last >= 0 && mark == mark_of(counts, last)) counts = 1 - counts;
  const at::Tensor sum = mine_.versions[1 - index_];
  sum.copy_(current());
  sum.narrow(0, 0, taken).add_(theirs.versions[counts].narrow(0, 0, taken));
  is_open_ = true;
  commit();
}

}  // namespace trireme::parallel::data
