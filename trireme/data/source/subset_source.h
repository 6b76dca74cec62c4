// SubsetSource contains selected samples of another source, in the order of a list.
//
// Semantics:     the random values of a sample do not change: its key is the one in the original
//                source.
// Thread safety: any thread.

#pragma once

#include <memory>
#include <vector>

#include "trireme/data/source/source.h"

namespace trireme::data {

class SubsetSource final : public Source {
 public:
  // REQUIRES: every number is below source->count().
  SubsetSource(std::shared_ptr<const Source> source, std::vector<std::int64_t> samples);

  std::int64_t count() const override { return std::ssize(samples_); }
  const Form& form() const override { return source_->form(); }
  void read(std::int64_t sample, const SampleKey& key, void* input, void* target) const override;
  void read_target(std::int64_t sample, void* target) const override;

 private:
  std::int64_t within(std::int64_t sample) const;

  std::shared_ptr<const Source> source_;
  std::vector<std::int64_t> samples_;
};

}  // namespace trireme::data
