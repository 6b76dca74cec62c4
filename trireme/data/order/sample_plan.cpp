#include "trireme/data/order/sample_plan.h"

#include <algorithm>
#include <iterator>
#include <string>

#include "trireme/base/check.h"
#include "trireme/base/error.h"

namespace trireme::data {

SamplePlan::SamplePlan(const Options& options) : options_(options) {
  TRIREME_CHECK(options.count >= 0 && options.batch >= 1 && options.micro_batches >= 1,
                "a plan of ", options.count, " samples, ", options.batch, " a step, to ",
                options.micro_batches, " micro-batches");
  TRIREME_CHECK(options.weights.empty() || std::ssize(options.weights) == options.micro_batches,
                options.weights.size(), " weights for ", options.micro_batches, " micro-batches");
  bounds_.push_back(0);
  for (std::size_t micro_batch = 0; micro_batch < static_cast<std::size_t>(options.micro_batches);
       ++micro_batch) {
    const std::int64_t weight = options.weights.empty() ? 1 : options.weights[micro_batch];
    TRIREME_CHECK(weight >= 0, "micro-batch ", micro_batch, " weighs ", weight);
    bounds_.push_back(bounds_.back() + weight);
  }
  TRIREME_CHECK(bounds_.back() > 0, "no micro-batch has any weight");
  if (options.count == 0) throw Error(ErrorCode::InvalidInput, "the data set has no samples");
  if (steps_an_epoch() == 0) {
    throw Error(ErrorCode::InvalidInput, "the data set has " + std::to_string(options.count) +
                                             " samples, fewer than one batch of " +
                                             std::to_string(options.batch) +
                                             ", and the last, smaller batch is dropped");
  }
}

std::int64_t SamplePlan::steps_an_epoch() const noexcept {
  const std::int64_t whole = options_.count / options_.batch;
  const bool has_rest = options_.count % options_.batch != 0;
  return whole + (has_rest && !options_.is_last_dropped ? 1 : 0);
}

Position SamplePlan::settle(Position at) const {
  TRIREME_CHECK(at.epoch >= 0 && at.cursor >= 0 && at.cursor <= options_.count, "position ",
                at.cursor, " of epoch ", at.epoch, " of ", options_.count, " samples");
  const std::int64_t least = options_.is_last_dropped ? options_.batch : 1;
  if (options_.count - at.cursor < least) return {.epoch = at.epoch + 1, .cursor = 0};
  return at;
}

std::int64_t SamplePlan::total(Position at) const {
  return std::min(options_.batch, options_.count - settle(at).cursor);
}

Range SamplePlan::places(Position at, int micro_batch) const {
  return share(total(at), micro_batch);
}

Position SamplePlan::after(Position at) const {
  at = settle(at);
  at.cursor += total(at);
  return settle(at);
}

std::int64_t SamplePlan::places_max(int micro_batch) const {
  // The smaller last step is cut differently and may give a micro-batch one sample more.
  const std::int64_t full = std::min(options_.batch, options_.count);
  const std::int64_t rest = options_.is_last_dropped ? 0 : options_.count % options_.batch;
  return std::max(share(full, micro_batch).count(), share(rest, micro_batch).count());
}

Range SamplePlan::share(std::int64_t total, int micro_batch) const {
  TRIREME_CHECK(micro_batch >= 0 && micro_batch < options_.micro_batches, "micro-batch ",
                micro_batch, " of ", options_.micro_batches);
  const auto at = [&](int bound) {
    return bounds_[static_cast<std::size_t>(bound)] * total / bounds_.back();
  };
  return {.begin = at(micro_batch), .end = at(micro_batch + 1)};
}

}  // namespace trireme::data
