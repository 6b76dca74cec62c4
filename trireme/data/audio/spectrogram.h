// Spectrogram is a sound as a picture: how much of which pitch there is at what time.
//
// Meaning: windows of `window` samples (Hann's, periodic), `hop` from one to the next and none past
//          the end, filled up with zeros to a power of two; the squares of the Fourier transform;
//          as many triangular bands as wanted, evenly spaced on the mel scale (2595 log10(1 + f /
//          700)) from 0 to half the rate; the logarithm of 1e-6 and each. As torchaudio's
//          MelSpectrogram with center=False, n_fft the power of two and mel_scale "htk".
// Threads: constant; any thread.

#pragma once

#include <complex>
#include <cstdint>
#include <span>
#include <vector>

namespace trireme::data::audio {

class Spectrogram {
 public:
  struct Options {
    std::int64_t rate = 16000;
    std::int64_t window = 400;
    std::int64_t hop = 160;
    std::int64_t bands = 40;
  };

  // REQUIRES: all above 0.
  explicit Spectrogram(const Options& options);

  // Times that fit into so many samples.
  std::int64_t times(std::int64_t samples) const noexcept;
  // (bands, times), row by row. With a `pitch` other than 1 every frequency is so many times as
  // high and nothing is earlier or later: of the transform only sizes are used, so that they can be
  // moved along the frequencies and no phase has to fit. What leaves the range is lost. REQUIRES:
  // pitch > 0.
  void draw(std::span<const float> samples, float* out, double pitch = 1) const;

 private:
  Options options_;
  std::size_t size_ = 1;  // of the transform
  std::vector<float> window_;
  std::vector<std::complex<float>> turns_;  // of the transform
  std::vector<float> bands_;                // (bands, size / 2 + 1)
};

// Of as many values as a power of two; in place. `turns` are exp(-2 pi i k / size), half of them.
void transform_in_place(std::span<std::complex<float>> values,
                        std::span<const std::complex<float>> turns);

}  // namespace trireme::data::audio
