#include "trireme/data/jpeg/jpeg.h"

#include <algorithm>
#include <csetjmp>
#include <cstdio>
#include <cstdlib>

// After <cstdio>, which it needs.
#include <jpeglib.h>
// After that one, which it needs.
#include <jerror.h>

#include "trireme/base/check.h"
#include "trireme/base/error.h"

namespace trireme::data::jpeg {
namespace {

// libjpeg says that it failed by a function that must not return.
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

// Of what libjpeg warns of, only missing and broken data make a picture another one.
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

// Beyond that nobody has pictures, and a torn header has anything.
constexpr std::int64_t kPixelsMax = std::int64_t{1} << 28;

// Eighths of the size in which it still covers what is wanted.
unsigned eighths(std::int64_t have, std::int64_t want) {
  return static_cast<unsigned>(std::clamp<std::int64_t>((8 * want + have - 1) / have, 1, 8));
}

struct Decoding {
  jpeg_decompress_struct codec{};
  Complaints complaints{};

  ~Decoding() { jpeg_destroy_decompress(&codec); }
};

// Jumps back over plain C only: whatever needs a destructor is the caller's.
bool begin(Decoding& d, ByteView bytes, std::int64_t height, std::int64_t width, bool is_grey) {
  if (setjmp(d.complaints.back) != 0) return false;
  jpeg_create_decompress(&d.codec);
  jpeg_mem_src(&d.codec, reinterpret_cast<const unsigned char*>(bytes.data()), bytes.size());
  jpeg_read_header(&d.codec, TRUE);
  const bool is_one = is_grey || d.codec.jpeg_color_space == JCS_GRAYSCALE;
  d.codec.out_color_space = is_one ? JCS_GRAYSCALE : JCS_RGB;
  d.codec.scale_num =
      std::max(eighths(d.codec.image_height, height), eighths(d.codec.image_width, width));
  // Only by halves: in between it is slower than to decode all.
  d.codec.scale_num = d.codec.scale_num > 4 ? 8 : d.codec.scale_num > 2 ? 4 : d.codec.scale_num;
  d.codec.scale_denom = 8;
  jpeg_calc_output_dimensions(&d.codec);
  return true;
}

bool read_rows(Decoding& d, std::uint8_t* to, std::size_t row_size) {
  if (setjmp(d.complaints.back) != 0) return false;
  jpeg_start_decompress(&d.codec);
  while (d.codec.output_scanline < d.codec.output_height) {
    JSAMPROW row = to + d.codec.output_scanline * row_size;
    jpeg_read_scanlines(&d.codec, &row, 1);
  }
  // A file that ends early is filled up with grey and warned of.
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

void decode(ByteView bytes, std::int64_t height_least, std::int64_t width_least, bool is_grey,
            image::Pixels& pixels) {
  Decoding d;
  prepare(d.complaints);
  d.codec.err = &d.complaints.base;
  if (!begin(d, bytes, height_least, width_least, is_grey)) fail(d.complaints);
  pixels.height = d.codec.output_height;
  pixels.width = d.codec.output_width;
  pixels.channels = d.codec.out_color_space == JCS_GRAYSCALE ? 1 : 3;
  if (pixels.height * pixels.width > kPixelsMax) {
    throw Error(ErrorCode::Corrupt, "JPEG: a picture of " + std::to_string(pixels.height) + " by " +
                                        std::to_string(pixels.width));
  }
  const auto row_size = static_cast<std::size_t>(pixels.width * pixels.channels);
  pixels.bytes.resize(row_size * static_cast<std::size_t>(pixels.height));
  if (!read_rows(d, pixels.bytes.data(), row_size)) fail(d.complaints);
}

namespace {

struct Encoding {
  jpeg_compress_struct codec{};
  Complaints complaints{};
  unsigned char* out = nullptr;
  unsigned long size = 0;  // NOLINT(google-runtime-int): libjpeg's

  ~Encoding() {
    jpeg_destroy_compress(&codec);
    std::free(out);
  }
};

bool write_all(Encoding& e, const image::Pixels& pixels, int quality) {
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
  Encoding e;
  prepare(e.complaints);
  e.codec.err = &e.complaints.base;
  if (!write_all(e, pixels, quality)) fail(e.complaints);
  const auto* const begin = reinterpret_cast<const std::byte*>(e.out);
  return {begin, begin + e.size};
}

}  // namespace trireme::data::jpeg
