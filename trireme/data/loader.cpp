#include "trireme/data/loader.h"

#include <algorithm>
#include <cstdio>
#include <set>

#include "trireme/base/check.h"
#include "trireme/base/deadline.h"
#include "trireme/base/error.h"
#include "trireme/base/text/quantity.h"

namespace trireme::data {
namespace {

// Samples that a thread takes at once: enough to amortize the lock, few enough to share a batch.
constexpr std::int64_t kChunk = 16;

const Source& checked(const Loader::Options& options) {
  TRIREME_CHECK(options.source != nullptr, "a loader needs a source");
  TRIREME_CHECK(options.threads >= 0 && options.ahead >= 1, "a loader of ", options.threads,
                " threads that reads ", options.ahead, " steps ahead");
  return *options.source;
}

void check_mine(const std::vector<int>& mine, int micro_batches) {
  for (int micro_batch : mine)
    TRIREME_CHECK(micro_batch >= 0 && micro_batch < micro_batches, "micro-batch ", micro_batch,
                  " of ", micro_batches);
  TRIREME_CHECK(std::set<int>(mine.begin(), mine.end()).size() == mine.size(),
                "a micro-batch is assigned twice");
}

}  // namespace

Loader::Loader(const Options& options)
    : options_(options),
      plan_({.count = checked(options).count(),
             .batch = options.batch,
             .micro_batches = options.micro_batches,
             .is_last_dropped = options.is_last_dropped}) {
  check_mine(options_.mine, options_.micro_batches);
  const Order order(options_.seed, options_.source->count(), options_.is_shuffled);
  fills_.reserve(static_cast<std::size_t>(options_.ahead) + 1);
  for (int i = 0; i < options_.ahead + 1; ++i) {
    fills_.push_back(
        {.buffer = StepBuffer(options_.source, order, options_.seed, options_.is_pinned)});
  }
  try {
    for (int i = 0; i < options_.threads; ++i) threads_.emplace_back([this] { run(); });
  } catch (const std::system_error&) {
    // With fewer readers the result is the same. With none, next() reads by itself.
  }
}

Loader::~Loader() {
  {
    const std::lock_guard lock(mutex_);
    is_ending_ = true;
  }
  work_.notify_all();
  for (std::thread& thread : threads_) thread.join();
}

const StepBatches& Loader::next() {
  std::unique_lock lock(mutex_);
  if (planned_ == given_) plan();
  Fill& fill = fill_of(given_);
  if (!fill.is_whole()) {
    const TimePoint begin = steady_clock().now();
    wait_until_whole(fill, lock);
    seconds_waited_ += std::chrono::duration<double>(steady_clock().now() - begin).count();
  }
  if (fill.failure) std::rethrow_exception(fill.failure);
  position_ = plan_.after(position_);
  ++given_;
  lock.unlock();
  work_.notify_all();
  name_skipped(fill.buffer.drop_bad());
  return fill.buffer.batches();
}

void Loader::name_skipped(const std::vector<std::string>& complaints) const {
  for (const std::string& complaint : complaints) {
    const std::size_t named = options_.source->skipped_names().add(complaint);
    if (named == 0) continue;
    const char* const more = named == SkippedNames::kMax ? " (further ones are only counted)" : "";
    std::fprintf(stderr, "trireme: skipped a sample: %s%s\n", complaint.c_str(), more);
  }
}

Returned Loader::samples_of(const StepBatches& given, int micro_batch) const {
  const Range places = plan_.places(given.at, micro_batch);
  return {.epoch = given.at.epoch,
          .samples = {given.at.cursor + places.begin, given.at.cursor + places.end}};
}

Batch Loader::read(const Returned& samples, std::int64_t place) const {
  StepBuffer buffer(options_.source,
                    Order(options_.seed, options_.source->count(), options_.is_shuffled),
                    options_.seed);
  buffer.prepare(samples, place);
  buffer.fill(0, buffer.count());
  name_skipped(buffer.drop_bad());
  return buffer.batches().batches.front();
}

void Loader::wait_until_whole(Fill& fill, std::unique_lock<std::mutex>& lock) {
  if (threads_.empty()) {
    while (fill.claimed < fill.buffer.count()) work_on(fill, lock);
    return;
  }
  work_.notify_all();
  const Deadline deadline = Deadline::after(options_.timeout);
  if (!whole_.wait_until(lock, deadline.when(), [&] { return fill.is_whole(); })) {
    throw Error(ErrorCode::Deadline, "no batch within " + to_text(options_.timeout) +
                                         ": the data source does not answer (epoch " +
                                         std::to_string(position_.epoch) + ", sample " +
                                         std::to_string(position_.cursor) + ")");
  }
}

void Loader::seek(Position to) {
  restart(plan_.settle(to), plan_.options(), options_.mine);
}

void Loader::assign(int micro_batches, std::vector<int> mine, std::vector<std::int64_t> weights) {
  check_mine(mine, micro_batches);
  SamplePlan::Options cut = plan_.options();
  cut.micro_batches = micro_batches;
  cut.weights = std::move(weights);
  restart(position_, std::move(cut), std::move(mine));
}

void Loader::restart(Position from, SamplePlan::Options cut, std::vector<int> mine) {
  std::unique_lock lock(mutex_);
  is_paused_ = true;
  const Deadline deadline = Deadline::after(options_.timeout);
  const bool is_quiet = whole_.wait_until(lock, deadline.when(), [&] { return reading_ == 0; });
  is_paused_ = false;
  if (!is_quiet) {
    work_.notify_all();
    throw Error(ErrorCode::Deadline,
                "the data source does not answer within " + to_text(options_.timeout));
  }
  options_.micro_batches = cut.micro_batches;
  options_.mine = std::move(mine);
  plan_ = SamplePlan(cut);
  position_ = plan_at_ = from;
  planned_ = given_;
  lock.unlock();
  work_.notify_all();
}

bool Loader::has_work() const {
  if (planned_ - given_ < options_.ahead) return true;
  for (std::int64_t step = given_; step < planned_; ++step) {
    const Fill& fill = fills_[static_cast<std::size_t>(step) % fills_.size()];
    if (fill.claimed < fill.buffer.count()) return true;
  }
  return false;
}

// The buffer of the next step; the caller of next() holds none of it.
Loader::Fill& Loader::plan() {
  Fill& fill = fill_of(planned_);
  fill.claimed = fill.done = 0;
  fill.failure = nullptr;
  try {
    fill.buffer.prepare(plan_, plan_at_, options_.mine);
  } catch (...) {  // out of memory: next() reports it
    fill.failure = std::current_exception();
    fill.claimed = fill.done = fill.buffer.count();
  }
  plan_at_ = plan_.after(plan_at_);
  ++planned_;
  return fill;
}

// The oldest step that still has samples to read; null if all steps that may be planned are read.
Loader::Fill* Loader::find_work() {
  for (std::int64_t step = given_; step < planned_; ++step) {
    Fill& fill = fill_of(step);
    if (fill.claimed < fill.buffer.count()) return &fill;
  }
  while (planned_ - given_ < options_.ahead) {
    Fill& fill = plan();
    if (fill.is_whole()) {  // this rank has no samples in this step
      whole_.notify_all();
      continue;
    }
    work_.notify_all();
    return &fill;
  }
  return nullptr;
}

void Loader::work_on(Fill& fill, std::unique_lock<std::mutex>& lock) {
  const std::int64_t begin = fill.claimed;
  const std::int64_t end = std::min(begin + kChunk, fill.buffer.count());
  fill.claimed = end;
  ++reading_;
  lock.unlock();
  std::exception_ptr failure;
  try {
    fill.buffer.fill(begin, end);
  } catch (...) {
    failure = std::current_exception();
  }
  lock.lock();
  --reading_;
  fill.done += end - begin;
  if (failure) {
    // Of several failures the earliest sample's is reported, so that every run gives the same
    // message.
    if (!fill.failure || begin < fill.failed_at) {
      fill.failure = failure;
      fill.failed_at = begin;
    }
    fill.done += fill.buffer.count() - fill.claimed;
    fill.claimed = fill.buffer.count();
  }
  if (fill.is_whole() || reading_ == 0) whole_.notify_all();
}

void Loader::run() {
  std::unique_lock lock(mutex_);
  while (true) {
    work_.wait(lock, [this] { return is_ending_ || (!is_paused_ && has_work()); });
    if (is_ending_) return;
    if (Fill* fill = find_work()) work_on(*fill, lock);
  }
}

}  // namespace trireme::data
