#include "trireme/data/source/subset_source.h"

#include "trireme/base/check.h"

namespace trireme::data {

SubsetSource::SubsetSource(std::shared_ptr<const Source> source, std::vector<std::int64_t> samples)
    : source_(std::move(source)), samples_(std::move(samples)) {
  for (const std::int64_t sample : samples_) {
    TRIREME_CHECK(sample >= 0 && sample < source_->count(), "sample ", sample, " of ",
                  source_->count());
  }
}

std::int64_t SubsetSource::within(std::int64_t sample) const {
  TRIREME_CHECK(sample >= 0 && sample < count(), "sample ", sample, " of ", count());
  return samples_[static_cast<std::size_t>(sample)];
}

void SubsetSource::read(std::int64_t sample, const SampleKey& key, void* input,
                        void* target) const {
  source_->read(within(sample), {.seed = key.seed, .epoch = key.epoch, .sample = within(sample)},
                input, target);
}

void SubsetSource::read_target(std::int64_t sample, void* target) const {
  source_->read_target(within(sample), target);
}

}  // namespace trireme::data
