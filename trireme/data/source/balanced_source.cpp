#include "trireme/data/source/balanced_source.h"

#include <algorithm>

#include "trireme/base/check.h"
#include "trireme/data/labels.h"
#include "trireme/data/order/order.h"

namespace trireme::data {
namespace {

// Makes these random draws independent of those of the epoch's order.
constexpr std::uint64_t kBalancePurpose = 0x42414C414E434544;

}  // namespace

BalancedSource::BalancedSource(std::shared_ptr<const Source> source, ClassBalance balance)
    : source_(std::move(source)) {
  TRIREME_CHECK(balance != ClassBalance::None, "nothing to balance");
  members_ = members_of(labels_of(*source_, "data.balance"), source_->form().classes);
  std::erase_if(members_, [](const auto& members) { return members.empty(); });
  for (const auto& members : members_) {
    const std::int64_t count = std::ssize(members);
    const bool is_first = per_class_ == 0;
    per_class_ = is_first                        ? count
                 : balance == ClassBalance::Over ? std::max(per_class_, count)
                                                 : std::min(per_class_, count);
  }
}

std::int64_t BalancedSource::original(std::int64_t sample, const SampleKey& key) const {
  TRIREME_CHECK(sample >= 0 && sample < count(), "sample ", sample, " of ", count());
  const std::int64_t index = sample % std::ssize(members_);
  const auto& members = members_[static_cast<std::size_t>(index)];
  const std::int64_t size = std::ssize(members);
  const std::int64_t place = sample / std::ssize(members_);
  // Each pass through the class has its own order.
  const std::int64_t turns = (per_class_ + size - 1) / size;
  const Order order(key.seed ^ kBalancePurpose ^ static_cast<std::uint64_t>(index) << 32, size);
  const std::int64_t at = order.sample(key.epoch * turns + place / size, place % size);
  return members[static_cast<std::size_t>(at)];
}

void BalancedSource::read(std::int64_t sample, const SampleKey& key, void* input,
                          void* target) const {
  source_->read(original(sample, key), key, input, target);
}

// All candidates for this sample have the same class.
void BalancedSource::read_target(std::int64_t sample, void* target) const {
  source_->read_target(original(sample, {}), target);
}

}  // namespace trireme::data
