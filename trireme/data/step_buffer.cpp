#include "trireme/data/step_buffer.h"

#include <ATen/ops/empty.h>

#include <algorithm>
#include <numeric>

#include "trireme/base/check.h"

namespace trireme::data {
namespace {

std::vector<std::int64_t> with_rows(std::int64_t rows, const std::vector<std::int64_t>& sizes) {
  std::vector<std::int64_t> all{rows};
  all.insert(all.end(), sizes.begin(), sizes.end());
  return all;
}

// Ours alone: no other tensor, view or graph refers to it.
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

StepBuffer::StepBuffer(std::shared_ptr<const Source> source, const Order& order, std::uint64_t seed)
    : source_(std::move(source)), order_(order), seed_(seed) {}

void StepBuffer::prepare(const Deal& deal, Position at, const std::vector<int>& mine) {
  step_.batches.clear();  // its views would count as holders
  step_.at = deal.settle(at);
  step_.total = deal.total(at);
  step_.slots = mine;
  rooms_.resize(mine.size());
  count_ = 0;
  for (std::size_t i = 0; i < mine.size(); ++i) {
    Room& room = rooms_[i];
    room.places = deal.places(at, mine[i]);
    make_room(room, std::max(room.places.count(), deal.places_max(mine[i])));
    auto* places = room.whole.places.mutable_data_ptr<std::int64_t>();
    std::iota(places, places + room.places.count(), room.places.begin);
    const std::int64_t rows = room.places.count();
    step_.batches.push_back({.input = rows_of(room.whole.input, rows),
                             .target = rows_of(room.whole.target, rows),
                             .places = rows_of(room.whole.places, rows)});
    count_ += rows;
  }
}

void StepBuffer::make_room(Room& room, std::int64_t rows) const {
  const Form& form = source_->form();
  Batch& whole = room.whole;
  if (whole.places.defined() && whole.places.size(0) == rows && is_free(whole.input) &&
      is_free(whole.target) && is_free(whole.places)) {
    return;
  }
  whole.input = at::empty(with_rows(rows, form.input_sizes), form.input_type);
  whole.target = at::empty(with_rows(rows, form.target_sizes), form.target_type);
  whole.places = at::empty({rows}, at::kLong);
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
  const std::int64_t sample = order_.sample(epoch, step_.at.cursor + room.places.begin + row);
  source_->read(sample, {.seed = seed_, .epoch = epoch, .sample = sample},
                row_of(room.whole.input, row, form.input_bytes()),
                row_of(room.whole.target, row, form.target_bytes()));
}

}  // namespace trireme::data
