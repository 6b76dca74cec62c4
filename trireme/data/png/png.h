// PNG files through libpng. In a build without it every function says so.
//
// Threads: any thread.
// Failure: Corrupt, with what is wrong; Unsupported where this build has no libpng.

#pragma once

#include "trireme/base/bytes.h"
#include "trireme/data/image/pixels.h"

namespace trireme::data::png {

bool is_png(ByteView bytes) noexcept;

// Grey or coloured, as the file is, unless `is_grey`. 16 bits become 8, and what can be seen
// through lies on black.
void decode(ByteView bytes, bool is_grey, image::Pixels& pixels);

// REQUIRES: 1 or 3 channels.
Bytes encode(const image::Pixels& pixels);

}  // namespace trireme::data::png
