#include "trireme/parallel/data/gradient/micro_batch_gradients.h"

#include <algorithm>
#include <utility>

#include "trireme/base/check.h"

namespace trireme::parallel::data {

MicroBatchGradients::MicroBatchGradients(const BucketPlan& plan,
                                         const std::vector<Parameter>& parameters, Options options)
    : plan_(plan), parameters_(parameters), options_(std::move(options)) {}

GradientBuckets& MicroBatchGradients::at(std::size_t index) {
  if (!options_.is_ordered) index = 0;
  if (buckets_.size() <= index) buckets_.resize(index + 1);
  if (!buckets_[index]) {
    GradientBuckets::Options own{.full = options_.full, .is_in_parts = options_.is_in_parts};
    if (options_.is_released) {
      own.allocate = options_.allocate;
    } else {
      own.memory = options_.allocate(plan_.count);
    }
    buckets_[index] = std::make_unique<GradientBuckets>(plan_, parameters_, std::move(own));
  }
  return *buckets_[index];
}

void MicroBatchGradients::begin_step(const StepPlan& plan, bool is_kept, int count_before) {
  step_ = plan;
  const std::vector<int> before = std::exchange(finished_, {});
  finished_.assign(plan.micro_batches.size(), kEmpty);
  // A rank whose micro-batch assignment differs from the leader's has no reusable gradients.
  const bool is_same = plan.kept_micro_batches == count_before;
  const bool is_mixed = std::exchange(is_mixed_, false);
  if (!is_kept || !is_same || !options_.keeps_finished) return;
  if (options_.is_ordered) {
    keep_each(before);
  } else if (!is_mixed) {
    keep_sum(before, count_before);
  }
}

void MicroBatchGradients::keep_sum(const std::vector<int>& finished, int count_before) {
  TRIREME_CHECK(step_.micro_batch_count % count_before == 0, count_before, " micro-batches became ",
                step_.micro_batch_count);
  const int pieces = step_.micro_batch_count / count_before;
  for (std::size_t i = 0; i < finished_.size(); ++i) {
    const int whole = step_.micro_batches[i] / pieces;
    const bool is_there = std::find(finished.begin(), finished.end(), whole) != finished.end();
    if (is_there) finished_[i] = step_.micro_batches[i];
  }
}

// Moves the gradients of every micro-batch that this rank still runs to its new index; the other
// memory is used again. REQUIRES: the micro-batches are those of the last attempt.
void MicroBatchGradients::keep_each(const std::vector<int>& finished) {
  std::vector<std::unique_ptr<GradientBuckets>> before = std::exchange(buckets_, {});
  buckets_.resize(std::max(before.size(), step_.micro_batches.size()));
  for (std::size_t i = 0; i < step_.micro_batches.size(); ++i) {
    const auto found = std::find(finished.begin(), finished.end(), step_.micro_batches[i]);
    if (found == finished.end()) continue;
    buckets_[i] = std::move(before[static_cast<std::size_t>(found - finished.begin())]);
    finished_[i] = step_.micro_batches[i];
  }
  auto spare = before.begin();
  for (std::unique_ptr<GradientBuckets>& place : buckets_) {
    if (place) continue;
    spare = std::find_if(spare, before.end(), [](const auto& one) { return one != nullptr; });
    if (spare == before.end()) break;
    place = std::move(*spare);
  }
}

bool MicroBatchGradients::has(int micro_batch) const {
  return std::find(finished_.begin(), finished_.end(), micro_batch) != finished_.end();
}

bool MicroBatchGradients::is_empty() const {
  return std::all_of(finished_.begin(), finished_.end(), [](int one) { return one == kEmpty; });
}

std::size_t MicroBatchGradients::last_to_run() const {
  std::size_t last = step_.micro_batches.size();
  while (last > 0 && has(step_.micro_batches[last - 1])) --last;
  return last - 1;
}

void MicroBatchGradients::begin(std::size_t index) {
  index_ = index;
  current().begin_micro_batch({.is_first = is_empty() || options_.is_ordered,
                               .is_last = index == last_to_run(),
                               .is_alone = options_.is_ordered});
}

void MicroBatchGradients::take(std::size_t parameter) {
  is_mixed_ = true;
  current().take(parameter);
}

void MicroBatchGradients::end() {
  current().end_micro_batch();
  finished_[index_] = step_.micro_batches[index_];
  is_mixed_ = false;
}

void MicroBatchGradients::clear() {
  at(0).begin_micro_batch({.is_first = true, .is_last = true});
  at(0).end_micro_batch();
  finished_.assign(finished_.size(), kEmpty);
  is_mixed_ = false;
}

bool MicroBatchGradients::is_used(std::size_t parameter) {
  const std::size_t count = options_.is_ordered ? step_.micro_batches.size() : 1;
  for (std::size_t i = 0; i < count; ++i) {
    if (at(i).is_used(parameter)) return true;
  }
  return false;
}

const at::Tensor& MicroBatchGradients::bucket(std::size_t bucket, std::size_t index) {
  return at(index).bucket(bucket);
}

void MicroBatchGradients::release(std::size_t bucket) {
  if (options_.is_released) at(0).release(bucket);
}

}  // namespace trireme::parallel::data
