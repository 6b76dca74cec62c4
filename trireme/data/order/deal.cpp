#include "trireme/data/order/deal.h"

#include <algorithm>
#include <iterator>
#include <string>

#include "trireme/base/check.h"
#include "trireme/base/error.h"

namespace trireme::data {

Deal::Deal(const Options& options) : options_(options) {
  TRIREME_CHECK(options.count >= 0 && options.batch >= 1 && options.slots >= 1, "a deal of ",
                options.count, " samples, ", options.batch, " a step, to ", options.slots,
                " slots");
  TRIREME_CHECK(options.weights.empty() || std::ssize(options.weights) == options.slots,
                options.weights.size(), " weights for ", options.slots, " slots");
  bounds_.push_back(0);
  for (std::size_t slot = 0; slot < static_cast<std::size_t>(options.slots); ++slot) {
    const std::int64_t weight = options.weights.empty() ? 1 : options.weights[slot];
    TRIREME_CHECK(weight >= 0, "slot ", slot, " weighs ", weight);
    bounds_.push_back(bounds_.back() + weight);
  }
  TRIREME_CHECK(bounds_.back() > 0, "no slot has any weight");
  if (options.count == 0) throw Error(ErrorCode::InvalidInput, "the data set has no samples");
  if (steps_an_epoch() == 0) {
    throw Error(ErrorCode::InvalidInput, "the data set has " + std::to_string(options.count) +
                                             " samples, fewer than one batch of " +
                                             std::to_string(options.batch) +
                                             ", and the last, smaller batch is dropped");
  }
}

std::int64_t Deal::steps_an_epoch() const noexcept {
  const std::int64_t whole = options_.count / options_.batch;
  const bool has_rest = options_.count % options_.batch != 0;
  return whole + (has_rest && !options_.is_last_dropped ? 1 : 0);
}

std::int64_t Deal::samples_an_epoch() const noexcept {
  return options_.is_last_dropped ? options_.count - options_.count % options_.batch
                                  : options_.count;
}

Position Deal::settle(Position at) const {
  TRIREME_CHECK(at.epoch >= 0 && at.cursor >= 0 && at.cursor <= options_.count, "position ",
                at.cursor, " of epoch ", at.epoch, " of ", options_.count, " samples");
  const std::int64_t least = options_.is_last_dropped ? options_.batch : 1;
  if (options_.count - at.cursor < least) return {.epoch = at.epoch + 1, .cursor = 0};
  return at;
}

std::int64_t Deal::total(Position at) const {
  return std::min(options_.batch, options_.count - settle(at).cursor);
}

Range Deal::places(Position at, int slot) const {
  return share(total(at), slot);
}

Position Deal::after(Position at) const {
  at = settle(at);
  at.cursor += total(at);
  return settle(at);
}

std::int64_t Deal::places_max(int slot) const {
  // The smaller last step is cut differently and may give a micro-batch one sample more.
  const std::int64_t full = std::min(options_.batch, options_.count);
  const std::int64_t rest = options_.is_last_dropped ? 0 : options_.count % options_.batch;
  return std::max(share(full, slot).count(), share(rest, slot).count());
}

Range Deal::share(std::int64_t total, int slot) const {
  TRIREME_CHECK(slot >= 0 && slot < options_.slots, "slot ", slot, " of ", options_.slots);
  const auto at = [&](int bound) {
    return bounds_[static_cast<std::size_t>(bound)] * total / bounds_.back();
  };
  return {.begin = at(slot), .end = at(slot + 1)};
}

}  // namespace trireme::data
