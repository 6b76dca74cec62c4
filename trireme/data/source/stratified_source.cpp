#include "trireme/data/source/stratified_source.h"

#include <algorithm>

#include "trireme/base/check.h"
#include "trireme/data/labels.h"
#include "trireme/data/order/order.h"

namespace trireme::data {
namespace {

// Makes these random draws independent of all others from the same seed.
constexpr std::uint64_t kStratumPurpose = 0x5354524154554D53;

}  // namespace

StratifiedSource::StratifiedSource(std::shared_ptr<const Source> source, bool is_shuffled)
    : source_(std::move(source)), is_shuffled_(is_shuffled) {
  members_ = members_of(labels_of(*source_, "data.stratify"), source_->form().classes);
  for (std::size_t label = 0; label < members_.size(); ++label) {
    for (std::size_t rank = 0; rank < members_[label].size(); ++rank) {
      places_.push_back({static_cast<std::uint32_t>(label), static_cast<std::uint32_t>(rank)});
    }
  }
  // Compares (j + 1/2) / n of both, in integers so that the result does not depend on rounding.
  const auto comes_before = [this](const Place& a, const Place& b) {
    const std::uint64_t left = (2 * std::uint64_t{a.rank} + 1) * members_[b.label].size();
    const std::uint64_t right = (2 * std::uint64_t{b.rank} + 1) * members_[a.label].size();
    return left != right ? left < right : a.label < b.label;
  };
  std::ranges::sort(places_, comes_before);
}

std::int64_t StratifiedSource::original(std::int64_t sample, const SampleKey& key) const {
  TRIREME_CHECK(sample >= 0 && sample < count(), "sample ", sample, " of ", count());
  const Place& place = places_[static_cast<std::size_t>(sample)];
  const auto& members = members_[place.label];
  const Order order(key.seed ^ kStratumPurpose ^ std::uint64_t{place.label} << 32,
                    std::ssize(members), is_shuffled_);
  return members[static_cast<std::size_t>(order.sample(key.epoch, place.rank))];
}

void StratifiedSource::read(std::int64_t sample, const SampleKey& key, void* input,
                            void* target) const {
  const std::int64_t which = original(sample, key);
  source_->read(which, {.seed = key.seed, .epoch = key.epoch, .sample = which}, input, target);
}

void StratifiedSource::read_target(std::int64_t sample, void* target) const {
  source_->read_target(original(sample, {}), target);
}

}  // namespace trireme::data
