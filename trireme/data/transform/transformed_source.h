// TransformedSource is a source of images with the changes of a TransformConfig made to each, drawn
// from the sample's key alone.
//
// Threads: any thread.
// Failure: InvalidInput where the samples are no images, or have other channels than the settings.

#pragma once

#include <memory>

#include "trireme/data/source.h"
#include "trireme/data/transform/image.h"
#include "trireme/data/transform/transform_config.h"

namespace trireme::data::transform {

// Evaluation sees every image as it is: nothing random.
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
  // By pad_crop and flip.
  Placement placement_of(const SampleKey& key) const;

  std::shared_ptr<const Source> source_;
  TransformConfig config_;
  Use use_;
  Form form_;
  ImageSize from_;
  ImageSize to_;
};

// The source itself where nothing is to be done or there is none.
std::shared_ptr<const Source> transformed(std::shared_ptr<const Source> source,
                                          const TransformConfig& config, Use use);

}  // namespace trireme::data::transform
