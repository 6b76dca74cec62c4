#include "trireme/data/audio/wav.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <optional>

#include "trireme/base/error.h"

namespace trireme::data::audio {
namespace {

constexpr std::uint16_t kWhole = 1, kFloat = 3, kExtensible = 0xFFFE;

[[noreturn]] void fail(std::size_t offset, const std::string& why) {
  throw Error(ErrorCode::Corrupt, "at byte " + std::to_string(offset) + ": " + why);
}

template <class Number>
Number number_at(ByteView bytes, std::size_t offset) {
  if (bytes.size() < sizeof(Number) || offset > bytes.size() - sizeof(Number)) {
    fail(bytes.size(), "the file ends within its header");
  }
  Number number{};
  std::memcpy(&number, bytes.data() + offset, sizeof(number));
  return number;
}

struct WavFormat {
  std::uint16_t format = 0;
  std::uint16_t channels = 0;
  std::uint32_t rate = 0;
  std::uint16_t bits = 0;
};

WavFormat layout_at(ByteView bytes, std::size_t at) {
  WavFormat layout{.format = number_at<std::uint16_t>(bytes, at),
                   .channels = number_at<std::uint16_t>(bytes, at + 2),
                   .rate = number_at<std::uint32_t>(bytes, at + 4),
                   .bits = number_at<std::uint16_t>(bytes, at + 14)};
  // The extensible format stores the sample format in a later field.
  if (layout.format == kExtensible) layout.format = number_at<std::uint16_t>(bytes, at + 24);
  const bool is_float = layout.format == kFloat && layout.bits == 32;
  const bool is_whole = layout.format == kWhole && (layout.bits == 8 || layout.bits == 16 ||
                                                    layout.bits == 24 || layout.bits == 32);
  if (!is_float && !is_whole) {
    throw Error(ErrorCode::Unsupported, "WAV of format " + std::to_string(layout.format) + " and " +
                                            std::to_string(layout.bits) + " bits");
  }
  if (layout.channels == 0 || layout.rate == 0) fail(at, "no channels, or no rate");
  return layout;
}

float sample_at(const std::byte* from, const WavFormat& layout) {
  if (layout.format == kFloat) {
    float value = 0;
    std::memcpy(&value, from, sizeof(value));
    return value;
  }
  if (layout.bits == 8) return static_cast<float>(std::to_integer<int>(*from) - 128) / 128.0F;
  // The sample's bytes are the highest bytes of a 32-bit value, whatever their number.
  std::uint32_t bits = 0;
  const std::size_t size = layout.bits / 8U;
  std::memcpy(reinterpret_cast<std::byte*>(&bits) + 4 - size, from, size);
  return static_cast<float>(static_cast<double>(static_cast<std::int32_t>(bits)) / 2147483648.0);
}

Sound sound_of(ByteView data, const WavFormat& layout) {
  const std::size_t size = layout.bits / 8U;
  const std::size_t frames = data.size() / (size * layout.channels);
  Sound sound{.rate = layout.rate, .samples = std::vector<float>(frames)};
  for (std::size_t i = 0; i < frames; ++i) {
    float sum = 0;
    for (std::size_t c = 0; c < layout.channels; ++c) {
      sum += sample_at(data.data() + (i * layout.channels + c) * size, layout);
    }
    sound.samples[i] = sum / static_cast<float>(layout.channels);
  }
  return sound;
}

bool has_word(ByteView bytes, std::size_t at, const char* word) {
  return bytes.size() >= at + 4 && std::memcmp(bytes.data() + at, word, 4) == 0;
}

}  // namespace

Sound read_wav(ByteView bytes) {
  if (!has_word(bytes, 0, "RIFF") || !has_word(bytes, 8, "WAVE")) fail(0, "no WAV file");
  std::optional<WavFormat> layout;
  for (std::size_t at = 12; at + 8 <= bytes.size();) {
    const auto size = std::size_t{number_at<std::uint32_t>(bytes, at + 4)};
    const std::size_t begin = at + 8;
    if (has_word(bytes, at, "fmt ")) layout = layout_at(bytes, begin);
    if (has_word(bytes, at, "data")) {
      if (!layout) fail(at, "samples before their format");
      if (size > bytes.size() - begin) fail(bytes.size(), "the file ends within its samples");
      return sound_of(bytes.subspan(begin, size), *layout);
    }
    // Chunks begin at even offsets.
    at = begin + size + size % 2;
  }
  fail(bytes.size(), "no samples");
}

std::vector<float> hurried(const std::vector<float>& samples, double factor,
                           std::int64_t count_max) {
  if (samples.empty()) return {};
  const double whole = std::floor(static_cast<double>(samples.size() - 1) / factor) + 1;
  const auto count = static_cast<std::size_t>(std::min(whole, static_cast<double>(count_max)));
  std::vector<float> out(count);
  for (std::size_t i = 0; i < count; ++i) {
    const double at = static_cast<double>(i) * factor;
    const auto before = std::min(static_cast<std::size_t>(at), samples.size() - 1);
    const std::size_t after = std::min(before + 1, samples.size() - 1);
    const auto share = static_cast<float>(at - static_cast<double>(before));
    out[i] = samples[before] * (1 - share) + samples[after] * share;
  }
  return out;
}

}  // namespace trireme::data::audio
