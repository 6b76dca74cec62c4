// WAV files: RIFF with samples of 8, 16, 24 or 32 bits, integers or floats, with any number of
// channels, which are averaged into one.
//
// Thread safety: pure functions; any thread.
// Errors:        Corrupt, with the offset, for a truncated or invalid file; Unsupported for a
//                compressed one.

#pragma once

#include <cstdint>
#include <vector>

#include "trireme/base/bytes.h"

namespace trireme::data::audio {

struct Sound {
  std::int64_t rate = 16000;        // samples per second
  std::vector<float> samples = {};  // from -1 to 1
};

Sound read_wav(ByteView bytes);

// Changes the speed: plays `factor` times the number of samples in the same time, with linear
// interpolation. Returns at most count_max samples, whatever rate a file claims.
std::vector<float> hurried(const std::vector<float>& samples, double factor,
                           std::int64_t count_max);

}  // namespace trireme::data::audio
