// write_wav() is the WAV file of a sound: 16 bits, one channel.

#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <utility>

#include "trireme/base/bytes.h"
#include "trireme/data/audio/wav.h"

namespace trireme::data::audio {

inline Bytes write_wav(const Sound& sound) {
  const auto size = static_cast<std::uint32_t>(2 * sound.samples.size());
  const auto rate = static_cast<std::uint32_t>(sound.rate);
  ByteWriter out;
  out.append(bytes_of("RIFF")).put(36 + size).append(bytes_of("WAVEfmt ")).put(std::uint32_t{16});
  out.put(std::uint16_t{1}).put(std::uint16_t{1}).put(rate).put(2 * rate);
  out.put(std::uint16_t{2}).put(std::uint16_t{16}).append(bytes_of("data")).put(size);
  for (const float sample : sound.samples) {
    out.put(static_cast<std::int16_t>(
        std::lround(std::clamp(sample, -1.0F, 32767.0F / 32768.0F) * 32768.0F)));
  }
  return std::move(out).take();
}

}  // namespace trireme::data::audio
