#include "trireme/data/step_buffer.h"

#include <ATen/ops/empty.h>
#include <ATen/ops/index_select.h>
#include <ATen/ops/tensor.h>

#include <algorithm>
#include <numeric>

#include "trireme/base/check.h"
#include "trireme/base/error.h"

namespace trireme::data {
namespace {

std::vector<std::int64_t> with_rows(std::int64_t rows, const std::vector<std::int64_t>& sizes) {
  std::vector<std::int64_t> all{rows};
  all.insert(all.end(), sizes.begin(), sizes.end());
  return all;
}

// Whether no other tensor, view or graph refers to it.
bool is_free(const at::Tensor& tensor) {
  return tensor.use_count() == 1 && tensor.storage().use_count() == 1;
}

at::Tensor rows_of(const at::Tensor& whole, std::int64_t rows) {
  return whole.size(0) == rows ? whole : whole.narrow(0, 0, rows);
}

std::byte* row_of(const at::Tensor& whole, std::int64_t row, std::size_t bytes) {
  return static_cast<std::byte*>(whole.data_ptr()) + static_cast<std::size_t>(row) * bytes;
}

}  // namespace

StepBuffer::StepBuffer(std::shared_ptr<const Source> source, const Order& order, std::uint64_t seed,
                       bool is_pinned)
    : source_(std::move(source)), order_(order), seed_(seed), is_pinned_(is_pinned) {}

void StepBuffer::prepare(const SamplePlan& plan, Position at, const std::vector<int>& mine) {
  step_.batches.clear();  // its views would count as references
  step_.at = plan.settle(at);
  step_.total = plan.total(at);
  step_.micro_batches = mine;
  rooms_.resize(mine.size());
  count_ = 0;
  for (std::size_t i = 0; i < mine.size(); ++i) {
    Room& room = rooms_[i];
    room.places = plan.places(at, mine[i]);
    room.at = step_.at.cursor + room.places.begin;
    make_room(room, std::max(room.places.count(), plan.places_max(mine[i])));
    add_batch(room);
  }
}

void StepBuffer::prepare(const Returned& samples, std::int64_t place) {
  step_ = {.at = {.epoch = samples.epoch, .cursor = samples.samples.begin},
           .total = samples.samples.count(),
           .micro_batches = {0},
           .batches = {}};
  rooms_.resize(1);
  count_ = 0;
  rooms_[0].places = {place, place + samples.samples.count()};
  rooms_[0].at = samples.samples.begin;
  make_room(rooms_[0], samples.samples.count());
  add_batch(rooms_[0]);
}

void StepBuffer::add_batch(Room& room) {
  const std::int64_t rows = room.places.count();
  auto* places = room.whole.places.mutable_data_ptr<std::int64_t>();
  std::iota(places, places + rows, room.places.begin);
  step_.batches.push_back({.input = rows_of(room.whole.input, rows),
                           .target = rows_of(room.whole.target, rows),
                           .places = rows_of(room.whole.places, rows)});
  count_ += rows;
  const bool can_skip = source_->form().are_bad_samples_skipped;
  room.complaints.assign(can_skip ? static_cast<std::size_t>(rows) : 0, {});
}

std::vector<std::string> StepBuffer::drop_bad() {
  std::vector<std::string> all;
  for (std::size_t i = 0; i < rooms_.size(); ++i) {
    std::vector<std::int64_t> kept;
    const std::vector<std::string>& complaints = rooms_[i].complaints;
    for (std::size_t row = 0; row < complaints.size(); ++row) {
      if (complaints[row].empty()) {
        kept.push_back(static_cast<std::int64_t>(row));
      } else {
        all.push_back(complaints[row]);
      }
    }
    if (kept.size() == complaints.size()) continue;
    Batch& batch = step_.batches[i];
    const at::Tensor rows = at::tensor(kept, at::kLong);
    batch = {.input = batch.input.index_select(0, rows),
             .target = batch.target.index_select(0, rows),
             .places = batch.places.index_select(0, rows),
             .skipped = std::ssize(complaints) - std::ssize(kept)};
  }
  return all;
}

void StepBuffer::make_room(Room& room, std::int64_t rows) const {
  const Form& form = source_->form();
  Batch& whole = room.whole;
  if (whole.places.defined() && whole.places.size(0) == rows && is_free(whole.input) &&
      is_free(whole.target) && is_free(whole.places)) {
    return;
  }
  const auto options = at::TensorOptions().pinned_memory(is_pinned_);
  whole.input = at::empty(with_rows(rows, form.input_sizes), options.dtype(form.input_type));
  whole.target = at::empty(with_rows(rows, form.target_sizes), options.dtype(form.target_type));
  whole.places = at::empty({rows}, options.dtype(at::kLong));
}

void StepBuffer::fill(std::int64_t begin, std::int64_t end) const {
  TRIREME_CHECK(begin >= 0 && end <= count_, "rows ", begin, " to ", end, " of ", count_);
  std::int64_t first = 0;
  for (const Room& room : rooms_) {
    const std::int64_t rows = room.places.count();
    const std::int64_t last = std::min(end - first, rows);
    for (std::int64_t row = std::max<std::int64_t>(begin - first, 0); row < last; ++row) {
      read_row(room, row);
    }
    first += rows;
  }
}

void StepBuffer::read_row(const Room& room, std::int64_t row) const {
  const Form& form = source_->form();
  const std::int64_t epoch = step_.at.epoch;
  const std::int64_t sample = order_.sample(epoch, room.at + row);
  try {
    source_->read(sample, {.seed = seed_, .epoch = epoch, .sample = sample},
                  row_of(room.whole.input, row, form.input_bytes()),
                  row_of(room.whole.target, row, form.target_bytes()));
  } catch (const Error& error) {
    if (room.complaints.empty() || error.code() != ErrorCode::Corrupt) throw;
    room.complaints[static_cast<std::size_t>(row)] = error.message();
  }
}

}  // namespace trireme::data
