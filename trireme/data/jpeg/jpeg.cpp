#include "trireme/data/jpeg/jpeg.h"

#include <algorithm>
#include <csetjmp>
#include <cstdio>
#include <cstdlib>
#include <string>

// Must come after <cstdio>, which it needs.
#include <jpeglib.h>
// Must come after jpeglib.h, which it needs.
#include <jerror.h>

#include "trireme/base/check.h"
#include "trireme/base/error.h"

namespace trireme::data::jpeg {
namespace {

// libjpeg reports errors through a function that must not return.
struct Complaints {
  jpeg_error_mgr base;
  std::jmp_buf back;
  char text[JMSG_LENGTH_MAX];
};

[[noreturn]] void leave(j_common_ptr codec) {
  auto* const complaints = reinterpret_cast<Complaints*>(codec->err);
  codec->err->format_message(codec, complaints->text);
  std::longjmp(complaints->back, 1);
}

// Of libjpeg's warnings, only those about missing and damaged data change the image.
void count_damage(j_common_ptr codec, int level) {
  if (level >= 0) return;
  const int code = codec->err->msg_code;
  const bool is_damage =
      code == JWRN_JPEG_EOF || code == JWRN_HIT_MARKER || code == JWRN_HUFF_BAD_CODE;
  if (!is_damage || codec->err->num_warnings++ > 0) return;
  codec->err->format_message(codec, reinterpret_cast<Complaints*>(codec->err)->text);
}

void prepare(Complaints& complaints) {
  jpeg_std_error(&complaints.base);
  complaints.base.error_exit = leave;
  complaints.base.emit_message = count_damage;
}

// The scale in eighths at which the image still covers the wanted size.
unsigned eighths(std::int64_t have, std::int64_t want) {
  return static_cast<unsigned>(std::clamp<std::int64_t>((8 * want + have - 1) / have, 1, 8));
}

// A decoder and its error handler; each thread keeps one and reuses it.
struct JpegDecoding {
  jpeg_decompress_struct codec{};
  Complaints complaints{};
  bool is_progressive = false;  // the file contains the image in several passes

  JpegDecoding() {
    prepare(complaints);
    codec.err = &complaints.base;
  }
  JpegDecoding(const JpegDecoding&) = delete;
  JpegDecoding& operator=(const JpegDecoding&) = delete;
  ~JpegDecoding() { jpeg_destroy_decompress(&codec); }
};

enum class PixelFormat { Bytes, Words };  // bytes per coloured pixel: three, or four

// longjmp() passes only over plain C: objects with a destructor must belong to the caller.
bool begin(JpegDecoding& d, ByteView bytes, std::int64_t height, std::int64_t width, bool is_grey,
           PixelFormat layout) {
  if (setjmp(d.complaints.back) != 0) return false;
  if (d.codec.mem == nullptr) {
    jpeg_create_decompress(&d.codec);
  } else {
    jpeg_abort_decompress(&d.codec);  // whatever the state of the previous image
  }
  d.codec.err->num_warnings = 0;
  jpeg_mem_src(&d.codec, reinterpret_cast<const unsigned char*>(bytes.data()), bytes.size());
  jpeg_read_header(&d.codec, TRUE);
  const bool is_one = is_grey || d.codec.jpeg_color_space == JCS_GRAYSCALE;
  const J_COLOR_SPACE colours = layout == PixelFormat::Words ? JCS_EXT_RGBX : JCS_RGB;
  // The library does not convert CMYK to other colours; convert_inks() does.
  const bool is_ink = d.codec.jpeg_color_space == JCS_CMYK || d.codec.jpeg_color_space == JCS_YCCK;
  d.codec.out_color_space = is_ink ? JCS_CMYK : is_one ? JCS_GRAYSCALE : colours;
  d.codec.scale_num =
      std::max(eighths(d.codec.image_height, height), eighths(d.codec.image_width, width));
  // Only halves: other scales are slower than decoding the full size.
  d.codec.scale_num = d.codec.scale_num > 4 ? 8 : d.codec.scale_num > 2 ? 4 : d.codec.scale_num;
  d.codec.scale_denom = 8;
  jpeg_calc_output_dimensions(&d.codec);
  d.is_progressive = jpeg_has_multiple_scans(&d.codec) != FALSE;
  return true;
}

// At the left and right edge of a decoded column range, half-size colours are interpolated
// differently than inside the image.
constexpr std::int64_t kMargin = 2;

// From here on the codec outputs these columns and the columns to their left in the same block.
// Updates `part` accordingly.
bool start_columns(JpegDecoding& d, image::ImageRegion& part) {
  if (setjmp(d.complaints.back) != 0) return false;
  jpeg_start_decompress(&d.codec);
  const auto whole = static_cast<std::int64_t>(d.codec.output_width);
  const std::int64_t right = std::min(part.left + part.width + kMargin, whole);
  auto left = static_cast<JDIMENSION>(std::max<std::int64_t>(part.left - kMargin, 0));
  auto width = static_cast<JDIMENSION>(right) - left;
  if (left > 0 || right < whole) jpeg_crop_scanline(&d.codec, &left, &width);
  part.left = left;
  part.width = width;
  return true;
}

// Reads rows [top, top + height) and skips the others.
bool read_rows(JpegDecoding& d, std::uint8_t* to, std::size_t row_size, std::int64_t top,
               std::int64_t height) {
  constexpr JDIMENSION kRows = 16;  // at most one block of the codec at once
  if (setjmp(d.complaints.back) != 0) return false;
  const auto first = static_cast<JDIMENSION>(top), end = static_cast<JDIMENSION>(top + height);
  JSAMPROW rows[kRows];
  if (first > 0) jpeg_skip_scanlines(&d.codec, first);
  while (d.codec.output_scanline < end) {
    const JDIMENSION count = std::min(kRows, end - d.codec.output_scanline);
    for (JDIMENSION i = 0; i < count; ++i) {
      rows[i] = to + (d.codec.output_scanline - first + i) * row_size;
    }
    jpeg_read_scanlines(&d.codec, rows, count);
  }
  if (end < d.codec.output_height) {
    // Skip all but the last row, which has to be read: skipping all of them would read nothing.
    const JDIMENSION others = d.codec.output_height - end - 1;
    if (others > 0) jpeg_skip_scanlines(&d.codec, others);
    rows[0] = to + static_cast<std::size_t>(height) * row_size;
    jpeg_read_scanlines(&d.codec, rows, 1);
  }
  // libjpeg fills the rest of a truncated file with grey and issues a warning.
  if (d.codec.err->num_warnings > 0) return false;
  jpeg_finish_decompress(&d.codec);
  return true;
}

[[noreturn]] void fail(const Complaints& complaints) {
  throw Error(ErrorCode::Corrupt, std::string("JPEG: ") + complaints.text);
}

}  // namespace

bool is_jpeg(ByteView bytes) noexcept {
  return bytes.size() > 2 && bytes[0] == std::byte{0xFF} && bytes[1] == std::byte{0xD8};
}

namespace {

// Stores the properties that begin() determined.
void describe(const JpegDecoding& d, bool is_grey, image::Pixels& pixels) {
  const J_COLOR_SPACE colours = d.codec.out_color_space;
  pixels.height = d.codec.output_height;
  pixels.width = d.codec.output_width;
  pixels.channels = is_grey || colours == JCS_GRAYSCALE ? 1 : 3;
  pixels.stride = colours == JCS_EXT_RGBX || colours == JCS_CMYK ? 4 : pixels.channels;
  pixels.part = {};
  // A progressive file is held in memory at its full size, whatever the size of the output.
  if (d.is_progressive) image::expect_pixels("JPEG", d.codec.image_height, d.codec.image_width);
  image::expect_pixels("JPEG", pixels.height, pixels.width);
}

// Converts cyan, magenta, yellow and black to red, green and blue, or to grey in the first byte, in
// place. The values in files are inverted, as Adobe writes them; Pillow and torchvision also assume
// that.
void convert_inks(image::Pixels& pixels) {
  for (std::size_t at = 0; at + 4 <= pixels.bytes.size(); at += 4) {
    std::uint8_t* const pixel = pixels.bytes.data() + at;
    const int black = pixel[3];
    for (int c = 0; c < 3; ++c) {
      pixel[c] = static_cast<std::uint8_t>((pixel[c] * black + 127) / 255);
    }
    if (pixels.channels == 3) continue;
    const int grey = 19595 * pixel[0] + 38470 * pixel[1] + 7471 * pixel[2] + 32768;
    pixel[0] = static_cast<std::uint8_t>(grey >> 16);
  }
}

void read_part(JpegDecoding& d, image::ImageRegion part, image::Pixels& pixels) {
  if (!start_columns(d, part)) fail(d.complaints);
  const auto row_size = static_cast<std::size_t>(part.width * pixels.stride);
  const bool is_last = part.top + part.height == pixels.height;
  // One more row than requested, as a buffer for the last row of the file, if that is another one.
  pixels.bytes.resize(row_size * static_cast<std::size_t>(part.height + (is_last ? 0 : 1)));
  if (!read_rows(d, pixels.bytes.data(), row_size, part.top, part.height)) fail(d.complaints);
  pixels.part = part;
  if (d.codec.out_color_space == JCS_CMYK) convert_inks(pixels);
}

JpegDecoding& decoder() {
  thread_local JpegDecoding kept;
  return kept;
}

}  // namespace

void decode(ByteView bytes, std::int64_t height_least, std::int64_t width_least, bool is_grey,
            image::Pixels& pixels) {
  JpegDecoding& d = decoder();
  if (!begin(d, bytes, height_least, width_least, is_grey, PixelFormat::Bytes)) fail(d.complaints);
  describe(d, is_grey, pixels);
  read_part(d, {.height = pixels.height, .width = pixels.width}, pixels);
}

void decode_part(ByteView bytes, transform::ImageSize size,
                 const transform::ImagePlacement& placement, bool is_grey, image::Pixels& pixels) {
  JpegDecoding& d = decoder();
  if (!begin(d, bytes, size.height, size.width, is_grey, PixelFormat::Words)) fail(d.complaints);
  describe(d, is_grey, pixels);
  image::ImageRegion part = image::part_for(pixels.height, pixels.width, size, placement);
  if (part.height == 0) part = {.height = 1, .width = pixels.width};  // only to detect damage
  read_part(d, part, pixels);
}

namespace {

struct JpegEncoding {
  jpeg_compress_struct codec{};
  Complaints complaints{};
  unsigned char* out = nullptr;
  unsigned long size = 0;  // NOLINT(google-runtime-int): libjpeg's

  ~JpegEncoding() {
    jpeg_destroy_compress(&codec);
    std::free(out);
  }
};

bool write_all(JpegEncoding& e, const image::Pixels& pixels, int quality) {
  if (setjmp(e.complaints.back) != 0) return false;
  jpeg_create_compress(&e.codec);
  jpeg_mem_dest(&e.codec, &e.out, &e.size);
  e.codec.image_width = static_cast<JDIMENSION>(pixels.width);
  e.codec.image_height = static_cast<JDIMENSION>(pixels.height);
  e.codec.input_components = static_cast<int>(pixels.channels);
  e.codec.in_color_space = pixels.channels == 1 ? JCS_GRAYSCALE : JCS_RGB;
  jpeg_set_defaults(&e.codec);
  jpeg_set_quality(&e.codec, quality, TRUE);
  jpeg_start_compress(&e.codec, TRUE);
  while (e.codec.next_scanline < e.codec.image_height) {
    auto* row = const_cast<std::uint8_t*>(pixels.bytes.data()) +
                e.codec.next_scanline * static_cast<std::size_t>(pixels.width * pixels.channels);
    jpeg_write_scanlines(&e.codec, &row, 1);
  }
  jpeg_finish_compress(&e.codec);
  return true;
}

}  // namespace

Bytes encode(const image::Pixels& pixels, int quality) {
  TRIREME_CHECK(pixels.channels == 1 || pixels.channels == 3, pixels.channels, " channels");
  JpegEncoding e;
  prepare(e.complaints);
  e.codec.err = &e.complaints.base;
  if (!write_all(e, pixels, quality)) fail(e.complaints);
  const auto* const begin = reinterpret_cast<const std::byte*>(e.out);
  return {begin, begin + e.size};
}

}  // namespace trireme::data::jpeg
