// Changes the targets of a source as [data] asks: to the inputs, for training an autoencoder
// (target = "input"), or to several tasks, for a model with several heads (class_groups,
// input_mean).
//
// Semantics:     the target of tasks is float32 (tasks): class, then group of the class, then mean
//                of the sample's numbers, if selected. Both are computed after augmentation.
// Thread safety: any thread.
// Errors:        InvalidInput if samples are not numbers; for tasks, also if they do not have one
//                class each, or the groups do not match the classes.

#pragma once

#include <memory>

#include "trireme/data/data_config.h"
#include "trireme/data/source/source.h"

namespace trireme::data {

// Returns the source itself if it is null or nothing changes.
std::shared_ptr<const Source> with_targets(std::shared_ptr<const Source> source,
                                           const DataConfig& config);

}  // namespace trireme::data
