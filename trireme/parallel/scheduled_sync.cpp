#include "trireme/parallel/scheduled_sync.h"

#include <c10/core/GradMode.h>

#include <algorithm>
#include <limits>
#include <utility>

#include "trireme/base/check.h"
#include "trireme/comm/torch/tensor.h"
#include "trireme/parallel/whole_state.h"

namespace trireme::parallel {

ScheduledSync::ScheduledSync(Options options) : options_(std::move(options)) {
  TRIREME_CHECK(!options_.parts.empty() && options_.parts[0].begin == 0,
                "the first part must begin at step 0");
  now_ = options_.parts[0].make();
}

bool ScheduledSync::has_replicas() const {
  return std::any_of(options_.parts.begin(), options_.parts.end(),
                     [](const Part& part) { return part.has_replicas; });
}

std::size_t ScheduledSync::part_at(std::int64_t step) const {
  std::size_t found = 0;
  while (found + 1 < options_.parts.size() && options_.parts[found + 1].begin <= step) ++found;
  return found;
}

void ScheduledSync::begin_step(const StepPlan& plan) {
  change_to(part_at(plan.step));
  now_->begin_step(plan);
}

// A checkpoint that was written between two parts was written by the earlier one.
void ScheduledSync::seek(std::int64_t step) {
  change_to(part_at(std::max<std::int64_t>(step - 1, 0)));
  now_->saved().seek(step);
}

void ScheduledSync::change_to(std::size_t part) {
  if (part == part_) return;
  const c10::NoGradGuard no_grad;
  now_->model().join();
  now_->model().settle();
  become(part, whole_state());
  if (options_.is_elastic) elastic().regroup(false);
}

// Replaces the current part. `state` is empty if this rank has none.
void ScheduledSync::become(std::size_t part, const Whole& state) {
  // The old strategy removes its hooks and frees its memory before the new one allocates any.
  now_.reset();
  for (Parameter& parameter : options_.parameters) {
    parameter.tensor.mutable_grad().reset();
    if (!state.empty()) parameter.tensor.set_data(state.at(parameter.name));
  }
  part_ = part;
  now_ = options_.parts[part].make();
  if (options_.is_elastic) elastic().survive(options_.group, places_);
  if (!state.empty()) give(state);
}

ElasticSync& ScheduledSync::elastic() const {
  auto* elastic = dynamic_cast<ElasticSync*>(now_.get());
  TRIREME_CHECK(elastic != nullptr, "a part of an elastic job does not implement ElasticSync");
  return *elastic;
}

void ScheduledSync::survive(const comm::Group& group, std::vector<int> places) {
  options_.group = group;
  places_ = std::move(places);
  elastic().survive(group, places_);
}

// A failure may have interrupted a change on some ranks only; all ranks continue with the latest
// part.
void ScheduledSync::regroup(bool is_new) {
  const c10::NoGradGuard no_grad;
  auto furthest = static_cast<std::int64_t>(is_new ? 0 : part_);
  options_.group
      .all_reduce({&furthest, 1, comm::DType::Int64}, comm::ReduceOp::Max, {.label = "part"})
      .wait();
  const auto part = static_cast<std::size_t>(furthest);
  std::int64_t missing = 0;
  if (part != part_) become(part, is_new ? Whole{} : own_state(missing));
  TRIREME_CHECK_EQ(missing, 0, "elements that only other ranks have");
  elastic().regroup(is_new);
}

// The values and the optimizer state that this rank has. `missing`: the number of other elements,
// which are set to minus infinity.
ScheduledSync::Whole ScheduledSync::own_state(std::int64_t& missing) {
  const std::vector<checkpoint::Piece> pieces = now_->saved().pieces();
  Whole whole;
  missing = 0;
  for (const StateTensor& one : tensors_of(options_.parameters, options_.states)) {
    whole[one.name] = whole_of(one, pieces, -std::numeric_limits<double>::infinity());
    missing += one.like.numel();
  }
  for (const checkpoint::Piece& piece : pieces) missing -= piece.data.numel();
  return whole;
}

// The whole state on each rank. A maximum over ranks fills in the elements that a rank lacks.
ScheduledSync::Whole ScheduledSync::whole_state() {
  std::int64_t missing = 0;
  Whole whole = own_state(missing);
  options_.group
      .all_reduce({&missing, 1, comm::DType::Int64}, comm::ReduceOp::Max, {.label = "change"})
      .wait();
  if (missing == 0) return whole;
  for (auto& [name, tensor] : whole) {
    comm::all_reduce(options_.group, tensor, comm::ReduceOp::Max, {.label = name}).wait();
  }
  return whole;
}

void ScheduledSync::give(const Whole& state) {
  const std::vector<checkpoint::Piece> pieces = now_->saved().pieces();
  for (const auto& [name, whole] : state) write_pieces(name, whole, pieces);
  now_->saved().restored();
}

}  // namespace trireme::parallel
