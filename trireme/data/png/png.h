// PNG files, decoded with libpng. In a build without it every function throws Unsupported.
//
// Thread safety: any thread.
// Errors:        Corrupt, with the reason; Unsupported if this build has no libpng.

#pragma once

#include "trireme/base/bytes.h"
#include "trireme/data/image/pixels.h"

namespace trireme::data::png {

bool is_png(ByteView bytes) noexcept;

// Decodes to greyscale or colour, like the file, unless `is_grey` is set. 16-bit values become
// 8-bit values, and transparent pixels are blended with black.
void decode(ByteView bytes, bool is_grey, image::Pixels& pixels);

// REQUIRES: 1 or 3 channels.
Bytes encode(const image::Pixels& pixels);

}  // namespace trireme::data::png
