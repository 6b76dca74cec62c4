// MixedSource is a source of images of one class each, every one mixed with another: mixup (Zhang
// et al. 2018) takes so much of the one and the rest of the other, cutmix (Yun et al. 2019) puts a
// rectangle of the other into the one. Targets become shares of classes, float32 (classes).
//
// Meaning: the share is drawn from Beta(alpha, alpha), the other sample from all, and where both
//          ways are wanted one of them, all from the sample's key. Both images are augmented.
// Threads: any thread.
// Failure: InvalidInput where samples are no images of one class each.

#pragma once

#include <memory>

#include "trireme/base/random.h"
#include "trireme/data/source.h"
#include "trireme/data/transform/image.h"
#include "trireme/data/transform/transform_config.h"

namespace trireme::data::transform {

class MixedSource final : public Source {
 public:
  MixedSource(std::shared_ptr<const Source> source, const TransformConfig& config);

  std::int64_t count() const override { return source_->count(); }
  const Form& form() const override { return form_; }
  void read(std::int64_t sample, const SampleKey& key, void* input, void* target) const override;

 private:
  // How much of the one is left.
  float mix(float* image, const float* other, double share) const;
  float paste(float* image, const float* other, double share, Random& random) const;

  std::shared_ptr<const Source> source_;
  TransformConfig config_;
  Form form_;
  ImageSize size_;
};

// The source itself where nothing is to be mixed.
std::shared_ptr<const Source> mixed(std::shared_ptr<const Source> source,
                                    const TransformConfig& config);

// A draw from Beta(alpha, alpha).
double draw_beta(double alpha, Random& random);

}  // namespace trireme::data::transform
