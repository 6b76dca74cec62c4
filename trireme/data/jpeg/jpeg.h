// JPEG files through libjpeg-turbo. In a build without it every function says so.
//
// Threads: any thread.
// Failure: Corrupt, with what is wrong; Unsupported where this build has no libjpeg.

#pragma once

#include "trireme/base/bytes.h"
#include "trireme/data/image/pixels.h"

namespace trireme::data::jpeg {

bool is_jpeg(ByteView bytes) noexcept;

// Grey or coloured, as the file is, unless `is_grey`. A picture that is much larger than so many
// rows and columns may come smaller, but not smaller than these.
void decode(ByteView bytes, std::int64_t height_least, std::int64_t width_least, bool is_grey,
            image::Pixels& pixels);

// Of quality 1 to 100. REQUIRES: 1 or 3 channels.
Bytes encode(const image::Pixels& pixels, int quality);

}  // namespace trireme::data::jpeg
