// WAV files: RIFF with samples of 8, 16, 24 or 32 bits, whole numbers or floats, of any number of
// channels, which are averaged into one.
//
// Threads: pure.
// Failure: Corrupt, with the offset, for a torn or foreign file; Unsupported for a packed one.

#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "trireme/base/bytes.h"

namespace trireme::data::audio {

struct Sound {
  std::int64_t rate = 16000;        // samples a second
  std::vector<float> samples = {};  // from -1 to 1
};

Sound read_wav(ByteView bytes);

// 16 bits, one channel.
Bytes write_wav(const Sound& sound);

// At another speed: `factor` times as many samples pass in the same time, linear between them; the
// first count_max of them, whatever rate a file claims.
std::vector<float> hurried(const std::vector<float>& samples, double factor,
                           std::int64_t count_max);

}  // namespace trireme::data::audio
