#include "trireme/parallel/scheduled_sync.h"

#include <c10/core/GradMode.h>

#include <algorithm>
#include <utility>

#include "trireme/base/check.h"

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
  handed_ =
      whole_state({options_.parameters, options_.states, now_->saved().pieces()}, options_.group);
  reach(options_.faults, kStateHeld, options_.group.rank());
  // If any rank passes this, all ranks have the state.
  if (options_.is_elastic) options_.group.barrier({.label = "change"}).wait();
  become(part);
  reach(options_.faults, kChanged, options_.group.rank());
  if (options_.is_elastic) elastic().regroup(false);
  handed_.clear();
}

// Replaces the current part. A new rank has no state to hand over.
void ScheduledSync::become(std::size_t part) {
  // The old strategy removes its hooks and frees its memory before the new one allocates any.
  now_.reset();
  for (Parameter& parameter : options_.parameters) {
    parameter.tensor.mutable_grad().reset();
    if (!handed_.empty()) parameter.tensor.set_data(handed_.at(parameter.name));
  }
  part_ = part;
  now_ = options_.parts[part].make();
  if (options_.is_elastic) elastic().survive(options_.group, places_);
  if (handed_.empty()) return;
  write_state(handed_, now_->saved().pieces());
  now_->saved().restored();
}

ElasticSync& ScheduledSync::elastic() const {
  auto* elastic = dynamic_cast<ElasticSync*>(now_.get());
  TRIREME_CHECK(elastic != nullptr, "a part of an elastic job does not implement ElasticSync");
  return *elastic;
}

// A failure may have interrupted a change on some ranks only; all ranks continue with the latest
// part. Only that part makes groups of this epoch, so that all ranks make the same ones.
void ScheduledSync::survive(const comm::Group& group, std::vector<int> places) {
  const c10::NoGradGuard no_grad;
  options_.group = group;
  places_ = std::move(places);
  auto latest = static_cast<std::int64_t>(part_);
  group.all_reduce({&latest, 1, comm::DType::Int64}, comm::ReduceOp::Max, {.label = "part"}).wait();
  if (latest != static_cast<std::int64_t>(part_)) return become(static_cast<std::size_t>(latest));
  elastic().survive(group, places_);
}

void ScheduledSync::regroup(bool is_new) {
  elastic().regroup(is_new);
  handed_.clear();
}

}  // namespace trireme::parallel
