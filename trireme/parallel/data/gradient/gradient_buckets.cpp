#include "trireme/parallel/data/gradient/gradient_buckets.h"

#include <c10/core/GradMode.h>

#include <algorithm>
#include <utility>

namespace trireme::parallel::data {
namespace {

constexpr std::size_t kSparesMax = 4;

}  // namespace

GradientBuckets::GradientBuckets(const BucketPlan& plan, const std::vector<Parameter>& parameters,
                                 Options options)
    : plan_(plan), options_(std::move(options)) {
  for (const Parameter& parameter : parameters) parameters_.push_back(parameter.tensor);
  buckets_.resize(plan.buckets.size());
  for (std::size_t b = 0; options_.memory.defined() && b < buckets_.size(); ++b) {
    const ElementRange range = plan.buckets[b].range;
    buckets_[b] = options_.memory.narrow(0, range.begin, range.count());
  }
  is_used_.resize(parameters.size());
  has_come_.resize(parameters.size());
  is_lent_.resize(parameters.size());
  missing_.resize(plan.buckets.size());
}

at::Tensor GradientBuckets::view_of(std::size_t parameter) {
  const std::size_t b = plan_.bucket_of[parameter];
  const ElementRange range = plan_.range_of[parameter];
  const ElementRange whole = plan_.buckets[b].range;
  if (!buckets_[b].defined()) buckets_[b] = memory_for(b);
  return buckets_[b]
      .narrow(0, range.begin - whole.begin, range.count())
      .view(parameters_[parameter].sizes());
}

// Most buckets have one of a few sizes, so released memory can often be reused.
at::Tensor GradientBuckets::memory_for(std::size_t index) {
  const BucketPlan::Bucket& bucket = plan_.buckets[index];
  const auto spare = std::find_if(spares_.begin(), spares_.end(), [&](const at::Tensor& found) {
    return found.numel() == bucket.range.count();
  });
  if (spare == spares_.end()) return options_.allocate(bucket.range.count());
  at::Tensor memory = std::move(*spare);
  spares_.erase(spare);
  // The padding between gradients must be zero, because it is summed, too.
  std::int64_t end = bucket.range.begin;
  const auto clear_until = [&](std::int64_t next) {
    if (next > end) memory.narrow(0, end - bucket.range.begin, next - end).zero_();
  };
  for (const BucketPlan::Entry& entry : bucket.entries) {
    clear_until(entry.range.begin);
    end = entry.range.end;
  }
  clear_until(bucket.range.end);
  return memory;
}

void GradientBuckets::release(std::size_t index) {
  if (options_.memory.defined()) return;
  if (spares_.size() == kSparesMax) spares_.erase(spares_.begin());
  spares_.push_back(std::move(buckets_[index]));
  buckets_[index].reset();
}

at::Tensor GradientBuckets::lend(std::size_t parameter) {
  if (is_used_[parameter] || is_lent_[parameter]) return {};
  is_lent_[parameter] = true;
  return view_of(parameter);
}

bool GradientBuckets::add_rows(std::size_t parameter, at::Tensor rows, at::Tensor values) {
  if (!is_lent_[parameter] || is_used_[parameter]) return false;
  rows_.add(parameter, std::move(rows), std::move(values));
  return true;
}

void GradientBuckets::begin_micro_batch(const Slot& micro_batch) {
  micro_batch_ = micro_batch;
  if (micro_batch.is_first) is_used_.assign(is_used_.size(), false);
  has_come_.assign(has_come_.size(), false);
  is_lent_.assign(is_lent_.size(), false);
  rows_.clear();
  for (std::size_t b = 0; b < missing_.size(); ++b) missing_[b] = plan_.buckets[b].entries.size();
  announced_ = 0;
}

void GradientBuckets::take(std::size_t parameter) {
  at::Tensor& gradient = parameters_[parameter].mutable_grad();
  if (!gradient.defined()) return;
  const c10::NoGradGuard no_grad;
  const at::Tensor dense = gradient.is_sparse() ? gradient.to_dense() : gradient;
  const at::Tensor home = view_of(parameter);
  if (is_used_[parameter]) {
    // The gradient of a shared parameter may arrive in parts, each in a new tensor.
    home.add_(dense);
  } else if (dense.const_data_ptr() != home.const_data_ptr()) {
    home.copy_(dense);
  }
  rows_.flush(parameter, home);
  gradient.reset();
  is_used_[parameter] = true;
  if (has_come_[parameter]) return;
  has_come_[parameter] = true;
  --missing_[plan_.bucket_of[parameter]];
  if (!options_.is_in_parts) announce();
}

void GradientBuckets::announce() {
  if (!micro_batch_.is_last) return;
  while (announced_ < missing_.size() && missing_[announced_] == 0) options_.full(announced_++);
}

void GradientBuckets::end_micro_batch() {
  if (!micro_batch_.is_last && !micro_batch_.is_alone) return;
  const c10::NoGradGuard no_grad;
  for (std::size_t i = 0; i < is_used_.size(); ++i) {
    if (!is_used_[i]) view_of(i).zero_();
  }
  if (!micro_batch_.is_last) return;
  missing_.assign(missing_.size(), 0);
  announce();
}

}  // namespace trireme::parallel::data
