// A source for tests of loaders: sample i contains i and its key; reading it may fail or block.

#pragma once

#include <functional>

#include "trireme/data/source/source.h"

namespace trireme::data {

class CountingSource final : public Source {
 public:
  explicit CountingSource(std::int64_t count, std::function<void(std::int64_t)> on_read = {})
      : count_(count), on_read_(std::move(on_read)) {
    // The number of a sample is its class.
    form_ = {.input_sizes = {2}, .input_type = at::kLong, .classes = 1 << 20};
  }

  // Samples for which on_read throws Corrupt are left out of their batches.
  void skip_bad() { form_.are_bad_samples_skipped = true; }

  std::int64_t count() const override { return count_; }
  const Form& form() const override { return form_; }
  void read(std::int64_t sample, const SampleKey& key, void* input, void* target) const override {
    if (on_read_) on_read_(sample);
    auto* const numbers = static_cast<std::int64_t*>(input);
    numbers[0] = key.epoch;
    numbers[1] = static_cast<std::int64_t>(key.seed) + key.sample;
    *static_cast<std::int64_t*>(target) = sample;
  }

 private:
  std::int64_t count_;
  std::function<void(std::int64_t)> on_read_;
  Form form_;
};

}  // namespace trireme::data
