// JoinedSource is two sources of one form end to end: the samples of the first, then those of the
// second.
//
// Threads: any thread.
// Failure: InvalidInput where samples or classes of the two differ.

#pragma once

#include <memory>

#include "trireme/data/data_config.h"
#include "trireme/data/source.h"

namespace trireme::data {

class JoinedSource final : public Source {
 public:
  JoinedSource(std::shared_ptr<const Source> first, std::shared_ptr<const Source> second);

  std::int64_t count() const override { return first_->count() + second_->count(); }
  const Form& form() const override { return first_->form(); }
  void read(std::int64_t sample, const SampleKey& key, void* input, void* target) const override;
  void read_placed(std::int64_t sample, const SampleKey& key, const transform::Placement& placement,
                   void* input, void* target) const override;
  void read_target(std::int64_t sample, void* target) const override;

 private:
  struct Place {
    const Source& source;
    std::int64_t sample;
  };
  Place place(std::int64_t sample) const;

  std::shared_ptr<const Source> first_;
  std::shared_ptr<const Source> second_;
};

// With the pictures of data.extra behind it; the source itself where there are none.
std::shared_ptr<const Source> with_extra(std::shared_ptr<const Source> source,
                                         const DataConfig& config);

}  // namespace trireme::data
