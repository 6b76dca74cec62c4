// JoinedSource concatenates two sources of the same form: the samples of the first, then those of
// the second.
//
// Thread safety: any thread.
// Errors:        InvalidInput if the samples or the classes of the two differ.

#pragma once

#include <memory>

#include "trireme/data/data_config.h"
#include "trireme/data/source/source.h"

namespace trireme::data {

class JoinedSource final : public Source {
 public:
  JoinedSource(std::shared_ptr<const Source> first, std::shared_ptr<const Source> second);

  std::int64_t count() const override { return first_->count() + second_->count(); }
  const Form& form() const override { return first_->form(); }
  void read(std::int64_t sample, const SampleKey& key, void* input, void* target) const override;
  void read_placed(std::int64_t sample, const SampleKey& key,
                   const transform::ImagePlacement& placement, void* input,
                   void* target) const override;
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

// Appends the images of data.extra; returns the source itself if there are none.
std::shared_ptr<const Source> with_extra(std::shared_ptr<const Source> source,
                                         const DataConfig& config);

}  // namespace trireme::data
