// Appends the images of data.extra to the training data.
//
// Thread safety: any thread.
// Errors:        InvalidInput if the samples or the classes of the two differ.

#pragma once

#include <memory>

#include "trireme/data/data_config.h"
#include "trireme/data/source/source.h"

namespace trireme::data {

// The samples of the source, then those of data.extra; the source itself if there are none.
std::shared_ptr<const Source> with_extra(std::shared_ptr<const Source> source,
                                         const DataConfig& config);

}  // namespace trireme::data
