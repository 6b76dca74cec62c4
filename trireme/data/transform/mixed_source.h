// Mixes each image of a source with another one. The images have one class each. mixup
// (Zhang et al. 2018) blends the two images; cutmix (Yun et al. 2019) pastes a rectangle of one
// into the other. Targets become class proportions, float32 (classes).
//
// Semantics:     the proportion is drawn from Beta(alpha, alpha), the other sample from all samples
//                and, if both methods are enabled, the method, all from the sample's key. Both
//                images are augmented.
// Thread safety: any thread.
// Errors:        InvalidInput if samples are not images with one class each.

#pragma once

#include <memory>

#include "trireme/base/random.h"
#include "trireme/data/source/source.h"
#include "trireme/data/transform/transform_config.h"

namespace trireme::data::transform {

// Returns the source itself if mixing is not enabled.
std::shared_ptr<const Source> mixed(std::shared_ptr<const Source> source,
                                    const TransformConfig& config);

// A draw from Beta(alpha, alpha).
double draw_beta(double alpha, Random& random);

}  // namespace trireme::data::transform
