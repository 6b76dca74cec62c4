// JPEG files, decoded with libjpeg-turbo like in Pillow and torchvision: exact inverse transform,
// and interpolation of half-size colours. In a build without it every function throws Unsupported.
//
// Thread safety: any thread.
// Errors:        Corrupt, with the reason; Unsupported if this build has no libjpeg.

#pragma once

#include "trireme/base/bytes.h"
#include "trireme/data/image/pixels.h"

namespace trireme::data::jpeg {

bool is_jpeg(ByteView bytes) noexcept;

// Decodes to greyscale or colour, like the file, unless `is_grey` is set. An image that is much
// larger than the given number of rows and columns may be decoded at a smaller size, but not below
// these.
void decode(ByteView bytes, std::int64_t height_least, std::int64_t width_least, bool is_grey,
            image::Pixels& pixels);

// Decodes only the part that image::fit() reads for that size and placement, plus what is decoded
// together with it, with bitwise identical results. Colours use four bytes per pixel. The rest is
// read but not converted to pixels, so that damage is detected anywhere.
void decode_part(ByteView bytes, transform::ImageSize size,
                 const transform::ImagePlacement& placement, bool is_grey, image::Pixels& pixels);

// `quality` is 1 to 100. REQUIRES: 1 or 3 channels.
Bytes encode(const image::Pixels& pixels, int quality);

}  // namespace trireme::data::jpeg
