#include "trireme/parallel/zero/gathering.h"

#include <ATen/ops/empty.h>
#include <c10/core/Allocator.h>

#include <algorithm>
#include <chrono>
#include <numeric>
#include <string>

#include "trireme/base/check.h"

namespace trireme::parallel::zero {
namespace {

// Enough for the block that runs, the block in flight, and the first bucket of the next one.
constexpr std::size_t kSparesMax = 4;

bool contains(const std::vector<std::size_t>& all, std::size_t one) {
  return std::find(all.begin(), all.end(), one) != all.end();
}

}  // namespace

Gathering::Gathering(Options options) : options_(std::move(options)) {
  TRIREME_CHECK_EQ(options_.counts.size(), options_.slices.size(), "shard sizes by bucket");
  for (std::size_t b = 0; b < options_.slices.size(); ++b) {
    const at::Tensor& slice = options_.slices[b];
    const std::vector<std::size_t>& counts = options_.counts[b];
    const auto count = std::accumulate(counts.begin(), counts.end(), std::size_t{0});
    Bucket bucket;
    bucket.whole = at::empty({static_cast<std::int64_t>(count)}, slice.options());
    bucket.whole.storage().set_data_ptr_noswap(at::DataPtr(nullptr, slice.device()));
    buckets_.push_back(std::move(bucket));
  }
}

const std::vector<std::size_t>& Gathering::needs_at(std::size_t gate) const {
  static const std::vector<std::size_t> none;
  const std::size_t blocks = options_.needs.size();
  if (gate >= gates()) return none;
  return options_.needs[gate < blocks ? gate : gates() - 1 - gate];
}

void Gathering::start(std::size_t index) {
  Bucket& bucket = buckets_[index];
  if (bucket.has_bytes) return;
  const c10::Storage& storage = bucket.whole.storage();
  const auto spare = std::find_if(spares_.begin(), spares_.end(), [&](const auto& found) {
    return found.first == storage.nbytes();
  });
  if (spare == spares_.end()) {
    storage.set_data_ptr_noswap(
        c10::GetAllocator(bucket.whole.device().type())->allocate(storage.nbytes()));
  } else {
    storage.set_data_ptr_noswap(std::move(spare->second));
    spares_.erase(spare);
  }
  bucket.has_bytes = true;
  bucket.work =
      comm::all_gather(options_.group, bucket.whole, options_.slices[index], options_.counts[index],
                       {.label = "values of bucket " + std::to_string(index)});
}

void Gathering::finish(std::size_t index) {
  Bucket& bucket = buckets_[index];
  if (!bucket.work) return;
  const auto begin = std::chrono::steady_clock::now();
  bucket.work->wait();
  waited_ += std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  bucket.work.reset();
}

void Gathering::drop(std::size_t index) {
  Bucket& bucket = buckets_[index];
  if (!bucket.has_bytes) return;
  finish(index);
  const c10::Storage& storage = bucket.whole.storage();
  at::DataPtr bytes = storage.set_data_ptr(at::DataPtr(nullptr, bucket.whole.device()));
  bucket.has_bytes = false;
  if (spares_.size() == kSparesMax) spares_.erase(spares_.begin());
  spares_.emplace_back(storage.nbytes(), std::move(bytes));
}

void Gathering::begin_micro_batch() {
  TRIREME_CHECK(!options_.needs.empty(),
                "zero3 gathers a model without blocks as a whole, not per micro-batch");
  drop_all();
  passed_ = 0;
  is_in_micro_batch_ = true;
}

void Gathering::end_micro_batch() {
  if (!is_in_micro_batch_) return;
  while (passed_ < gates()) pass(passed_);
  is_in_micro_batch_ = false;
  drop_all();
}

void Gathering::reach(std::size_t block, model::PassDirection direction) {
  if (!is_in_micro_batch_) {
    TRIREME_CHECK(is_all_whole_, "block ", block,
                  " is sharded; call settle() before a pass outside a step");
    return;
  }
  const std::size_t gate = direction == model::PassDirection::Forward ? block : gates() - 1 - block;
  while (passed_ <= gate) pass(passed_);
  for (const std::size_t b : needs_at(gate)) {
    TRIREME_CHECK(buckets_[b].has_bytes, "block ", block,
                  " runs twice in a micro-batch; zero3 supports one forward and one backward pass");
    finish(b);
  }
}

void Gathering::pass(std::size_t gate) {
  const std::vector<std::size_t>& now = needs_at(gate);
  const std::vector<std::size_t>& next = needs_at(gate + 1);
  for (std::size_t b = 0; b < buckets_.size(); ++b) {
    if (!contains(now, b) && !contains(next, b)) drop(b);
  }
  for (const std::size_t b : now) start(b);
  for (const std::size_t b : next) start(b);
  for (const std::size_t b : now) finish(b);
  passed_ = gate + 1;
}

void Gathering::gather_all() {
  for (std::size_t b = 0; b < buckets_.size(); ++b) {
    start(b);
    if (b > 0) finish(b - 1);
  }
  if (!buckets_.empty()) finish(buckets_.size() - 1);
  is_all_whole_ = true;
}

void Gathering::drop_all() {
  for (std::size_t b = 0; b < buckets_.size(); ++b) drop(b);
  is_all_whole_ = false;
}

}  // namespace trireme::parallel::zero
