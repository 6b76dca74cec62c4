#include "trireme/parallel/data/reduce/reducer.h"

#include <string>

#include "trireme/comm/torch/tensor.h"

namespace trireme::parallel::data {

void BucketReducer::begin_step(const StepPlan& plan) {
  forget();
  const bool is_coded = options_.coded.first != nullptr && plan.step >= options_.codec_begin;
  now_ = is_coded ? options_.coded : options_.plain;
  for (const Levels& levels : {options_.plain, options_.coded}) {
    if (levels.first != nullptr) levels.first->begin(plan.step);
    if (levels.second != nullptr) levels.second->begin(plan.step);
  }
}

void BucketReducer::launch(std::size_t bucket) {
  now_.first->launch(bucket, options_.gradients->bucket(bucket),
                     options_.layout->reduced.at(bucket, options_.layout->own[bucket]));
}

void BucketReducer::poll() {
  while (finished_ < now_.first->launched() && now_.first->is_done(finished_)) finish_next();
  if (now_.second == nullptr) return;
  while (crossed_ < now_.second->launched() && now_.second->is_done(crossed_)) {
    now_.second->finish(crossed_++);
  }
}

// In the order of the plan on every rank, so that the second level runs in the same order, too.
void BucketReducer::finish_next() {
  const std::size_t bucket = finished_;
  now_.first->finish(bucket);
  options_.gradients->release(bucket);
  if (now_.second != nullptr) {
    const StorageLayout& layout = *options_.layout;
    const ElementRange range =
        now_.has_whole_buckets ? layout.plan.buckets[bucket].range : layout.own[bucket];
    const at::Tensor part = layout.reduced.at(bucket, range);
    now_.second->launch(bucket, part, part);
  }
  ++finished_;
}

void BucketReducer::finish() {
  const std::size_t buckets = options_.layout->plan.buckets.size();
  while (now_.first->launched() < buckets) launch(now_.first->launched());
  while (finished_ < buckets) finish_next();
  while (now_.second != nullptr && crossed_ < buckets) now_.second->finish(crossed_++);
  // Finished collectives keep their tensors alive.
  forget();
}

void BucketReducer::forget() {
  for (const Levels& levels : {options_.plain, options_.coded}) {
    if (levels.first != nullptr) levels.first->forget();
    if (levels.second != nullptr) levels.second->forget();
  }
  finished_ = crossed_ = 0;
}

void OrderedReducer::begin_step(const StepPlan& plan) {
  forget();
  plan_ = plan;
}

void OrderedReducer::launch(std::size_t bucket) {
  if (bucket != works_.size()) return;
  std::vector<comm::LogicalShare> mine;
  for (std::size_t i = 0; i < plan_.micro_batches.size(); ++i) {
    mine.push_back({.logical_rank = plan_.micro_batches[i],
                    .data = comm::span(options_.gradients->bucket(bucket, i))});
  }
  const ElementRange whole = options_.layout->plan.buckets[bucket].range;
  works_.push_back(options_.group.ordered_sum(
      comm::span(options_.layout->reduced.at(bucket, whole)), mine, plan_.owners,
      comm::ReduceOp::Sum, {.label = "bucket " + std::to_string(bucket)}));
}

void OrderedReducer::finish() {
  while (works_.size() < options_.layout->plan.buckets.size()) launch(works_.size());
  comm::wait_all(works_);
  works_.clear();
}

}  // namespace trireme::parallel::data
