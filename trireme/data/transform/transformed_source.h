// Applies a TransformConfig to each image of a source, with random values drawn
// only from the sample's key.
//
// Thread safety: any thread.
// Errors:        InvalidInput if the samples are not images, or their number of channels differs
//                from the settings.

#pragma once

#include <memory>

#include "trireme/data/source/source.h"
#include "trireme/data/transform/transform_config.h"

namespace trireme::data::transform {

// Evaluation uses no random augmentation.
enum class Use { Training, Evaluation };

// Returns the source itself if it is null or no transform is enabled.
std::shared_ptr<const Source> transformed(std::shared_ptr<const Source> source,
                                          const TransformConfig& config, Use use);

}  // namespace trireme::data::transform
