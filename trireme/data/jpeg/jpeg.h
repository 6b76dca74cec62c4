// JPEG files through libjpeg-turbo, as Pillow and torchvision read them: exact inverse transform,
// colours at half the size interpolated. In a build without it every function says so.
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

// The same bits of no more than what image::fit() looks at for that size and placement, and of what
// comes with it; colours as words of four bytes. The rest is read and not made into pixels, so that
// damage is found wherever it is.
void decode_part(ByteView bytes, transform::ImageSize size, const transform::Placement& placement,
                 bool is_grey, image::Pixels& pixels);

// Of quality 1 to 100. REQUIRES: 1 or 3 channels.
Bytes encode(const image::Pixels& pixels, int quality);

}  // namespace trireme::data::jpeg
