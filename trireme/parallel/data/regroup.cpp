// How DataParallel outlives its group: what stays of a step, who finishes it, who gets the state.

#include <c10/core/GradMode.h>

#include <algorithm>
#include <utility>

#include "trireme/base/check.h"
#include "trireme/optim/clip.h"
#include "trireme/parallel/data/data_parallel.h"
#include "trireme/parallel/sameness.h"

namespace trireme::parallel::data {
namespace {

// What a rank brings to a new group, least first.
enum class Having : std::uint8_t { Nothing, FirstValues, Values, Layout };

}  // namespace

void DataParallel::throw_if_lost() const {
  if (const std::optional<Error> error = options_.group.error()) throw *error;
}

// A step begins, for the first time or once more.
void DataParallel::reopen(int slots_before) {
  // Others may have begun it where this rank did not.
  const bool is_again = plan_.is_repeated && standing_.step == plan_.step;
  standing_.step = plan_.step;
  standing_.phase = Standing::Phase::Open;
  if (page_) page_->begin(plan_.step);
  if (!is_again) {
    filled_.assign(filled_.size(), kEmpty);
    first_buffers_.clear();
    return;
  }
  keep_filled(slots_before);
  const c10::NoGradGuard no_grad;
  for (std::size_t i = 0; i < first_buffers_.size(); ++i) {
    options_.buffers[i].copy_(first_buffers_[i]);
  }
  for (Parameter& parameter : options_.parameters) parameter.tensor.mutable_grad().reset();
  if (!layout_) arrival_.clear();
}

// Statistics that a forward pass changes must be changed again: then all of it is run again.
bool DataParallel::keeps_slots() const {
  return options_.buffers.empty() && (options_.is_ordered || (is_sliced() && !is_released()));
}

bool DataParallel::has_none() const {
  return std::all_of(filled_.begin(), filled_.end(), [](int slot) { return slot == kEmpty; });
}

// The gradients of slots that stay this rank's move to the places that these slots have now.
void DataParallel::keep_filled(int slots_before) {
  const std::vector<int> before = std::exchange(filled_, {});
  filled_.assign(plan_.slots.size(), kEmpty);
  const bool is_mixed = std::exchange(is_mixed_, false);
  if (!plan_.is_kept || !keeps_slots()) return;
  if (options_.is_ordered) return keep_ordered(before);
  TRIREME_CHECK(plan_.slot_count % slots_before == 0, slots_before, " slots became ",
                plan_.slot_count);
  const int pieces = plan_.slot_count / slots_before;
  for (std::size_t i = 0; i < filled_.size() && !is_mixed; ++i) {
    const int whole = plan_.slots[i] / pieces;
    const bool is_there = std::find(before.begin(), before.end(), whole) != before.end();
    if (is_there) filled_[i] = plan_.slots[i];
  }
}

// REQUIRES: slots are those of the last attempt, in one piece.
void DataParallel::keep_ordered(const std::vector<int>& filled) {
  std::vector<std::unique_ptr<GradientBuckets>> before = std::exchange(buckets_, {});
  buckets_.resize(std::max(before.size(), plan_.slots.size()));
  for (std::size_t i = 0; i < plan_.slots.size(); ++i) {
    const auto at = std::find(filled.begin(), filled.end(), plan_.slots[i]);
    if (at == filled.end()) continue;
    buckets_[i] = std::move(before[static_cast<std::size_t>(at - filled.begin())]);
    filled_[i] = plan_.slots[i];
  }
  auto spare = before.begin();
  for (std::unique_ptr<GradientBuckets>& place : buckets_) {
    if (place) continue;
    spare = std::find_if(spare, before.end(), [](const auto& one) { return one != nullptr; });
    if (spare == before.end()) break;
    place = std::move(*spare);
  }
}

bool DataParallel::has_slot(int slot) const {
  return std::find(filled_.begin(), filled_.end(), slot) != filled_.end();
}

// Of this rank's slots.
std::size_t DataParallel::last_to_run() const {
  std::size_t last = plan_.slots.size();
  while (last > 0 && has_slot(plan_.slots[last - 1])) --last;
  return last - 1;
}

// Statistics that a forward pass changes must not change twice.
void DataParallel::remember_buffers() {
  first_buffers_.clear();
  for (const at::Tensor& buffer : options_.buffers) first_buffers_.push_back(buffer.clone());
}

void DataParallel::survive(const comm::Group& group, std::vector<int> places) {
  works_.clear();
  crossing_.clear();
  ordered_.clear();
  if (publishing_) publishing_->forget();
  finished_ = 0;
  is_surviving_ = true;
  options_.group = group;
  places_ = std::move(places);
  inside_ = group;
}

std::optional<Gradients> DataParallel::recall(std::int64_t step, std::span<const Prepared> told) {
  if (standing_.step != step) return std::nullopt;
  std::vector<double> figures;
  for (const Prepared& one : told) {
    if (one.step == step) figures = one.figures;
  }
  for (std::size_t i = 0; ledger_ && figures.empty() && i < cut_.places.size(); ++i) {
    const Ledger::Page page = ledger_->page(cut_.places[i]);
    // Whoever has begun the next one was prepared, and has kept the figures.
    const bool is_prepared =
        page.step() == step ? page.phase() != Ledger::Phase::Open : page.step() == step + 1;
    if (is_prepared) figures.assign(page.figures().begin(), page.figures().end());
  }
  if (figures.empty()) return std::nullopt;
  // This rank may be the next to die: whoever looks for them finds them with it, too.
  if (standing_.phase == Standing::Phase::Open) prepare_standing(figures);
  return take_figures(figures);
}

// The slices of those who are gone, dealt out to those who live.
void DataParallel::update_orphans(const Update& how) {
  if (!is_one_copy()) return;
  int orphan = 0;
  for (int rank = 0; rank < cut_.size; ++rank) {
    const int place = cut_.places[static_cast<std::size_t>(rank)];
    const std::vector<int>& living = places_;
    if (std::find(living.begin(), living.end(), place) != living.end()) continue;
    if (orphan++ % options_.group.size() != options_.group.rank()) continue;
    Ledger::Page page = ledger_->page(place);
    // One that has begun the next step had finished this one.
    const bool is_finished =
        page.step() > standing_.step || page.phase() == Ledger::Phase::Finished;
    if (is_finished) continue;
    const std::vector<optim::Slice> theirs = slices(how.rate, rank);
    if (plan_.clip_value > 0) optim::clip_by_value(theirs, plan_.clip_value, how.scale);
    page.update(theirs, *options_.optimizer, how.number, how.scale, options_.faults,
                options_.group.rank());
    write_copies(rank);
    page.finish();
  }
}

void DataParallel::finish_orphans() {
  const c10::NoGradGuard no_grad;
  if (made_) update_orphans(*made_);
}

void DataParallel::regroup(bool is_new) {
  const c10::NoGradGuard no_grad;
  finish_publishing();
  const comm::Group& group = options_.group;
  const Having mine = is_new       ? Having::Nothing
                      : layout_    ? Having::Layout
                      : has_state_ ? Having::Values
                                   : Having::FirstValues;
  const auto own = static_cast<std::uint8_t>(mine);
  std::vector<std::uint8_t> all(static_cast<std::size_t>(group.size()));
  group
      .all_gather({all.data(), all.size(), comm::DType::UInt8}, {&own, 1, comm::DType::UInt8},
                  {.label = "who has the state"})
      .wait();
  const auto most = std::max_element(all.begin(), all.end());
  const auto least = static_cast<Having>(*std::min_element(all.begin(), all.end()));
  const int source = static_cast<int>(most - all.begin());
  const bool is_strange = least < Having::Values;  // somebody has not met the others yet
  if (is_strange) expect_same_parameters(group, options_.parameters);
  if (static_cast<Having>(*most) == Having::Layout) {
    if (least < Having::Layout) share_layout(source);
    if (least < Having::Layout && !is_one_copy()) share_spaces(source);
  } else if (is_strange) {
    std::vector<at::Tensor> values;
    for (const Parameter& parameter : options_.parameters) values.push_back(parameter.tensor);
    share_tensors(source, values);
  }
  if (is_strange) share_tensors(source, options_.buffers);
  group.barrier({.label = "regrouped"}).wait();
  has_state_ = true;
  is_surviving_ = false;
  if (layout_) cut_slices();
}

// Those who have no layout get the source's.
void DataParallel::share_layout(int source) {
  Blueprint blueprint = blueprint_;
  blueprint.order.resize(options_.parameters.size());
  blueprint.names.resize(draw({}).names.size());
  for (std::vector<std::int64_t>* numbers : {&blueprint.order, &blueprint.names}) {
    options_.group
        .broadcast({numbers->data(), numbers->size(), comm::DType::Int64}, source,
                   {.label = "layout"})
        .wait();
  }
  if (layout_ && blueprint.names == blueprint_.names) return;
  lay_out(blueprint, /*is_attached=*/true);
}

void DataParallel::share_spaces(int source) {
  std::vector<at::Tensor> spaces{layout_->values.memory};
  for (const FlatSpace& state : layout_->states) spaces.push_back(state.memory);
  share_tensors(source, spaces);
}

void DataParallel::share_tensors(int source, const std::vector<at::Tensor>& tensors) {
  for (const at::Tensor& tensor : tensors) {
    comm::broadcast(options_.group, tensor.detach(), source, {.label = "state"}).wait();
  }
}

}  // namespace trireme::parallel::data
