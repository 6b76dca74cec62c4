// TransformedSource applies a TransformConfig to each image of a source, with random values drawn
// only from the sample's key.
//
// Thread safety: any thread.
// Errors:        InvalidInput if the samples are not images, or their number of channels differs
//                from the settings.

#pragma once

#include <memory>

#include "trireme/data/source/source.h"
#include "trireme/data/transform/image.h"
#include "trireme/data/transform/transform_config.h"

namespace trireme::data::transform {

// Evaluation uses no random augmentation.
enum class Use { Training, Evaluation };

class TransformedSource final : public Source {
 public:
  TransformedSource(std::shared_ptr<const Source> source, const TransformConfig& config, Use use);

  std::int64_t count() const override { return source_->count(); }
  const Form& form() const override { return form_; }
  void read(std::int64_t sample, const SampleKey& key, void* input, void* target) const override;
  void read_target(std::int64_t sample, void* target) const override {
    source_->read_target(sample, target);
  }

 private:
  // Determined by pad_crop and flip.
  ImagePlacement placement_of(const SampleKey& key) const;

  std::shared_ptr<const Source> source_;
  TransformConfig config_;
  Use use_;
  Form form_;
  ImageSize from_;
  ImageSize to_;
};

// Returns the source itself if it is null or no transform is enabled.
std::shared_ptr<const Source> transformed(std::shared_ptr<const Source> source,
                                          const TransformConfig& config, Use use);

}  // namespace trireme::data::transform
