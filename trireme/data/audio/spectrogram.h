// Spectrogram converts a sound to an image: the strength of each frequency band over time.
//
// Semantics:     windows of `window` samples (periodic Hann), `hop` samples apart and none past the
//                end, zero-padded to a power of two; squared magnitudes of the Fourier transform;
//                the requested number of triangular bands, evenly spaced on the mel scale (2595
//                log10(1 + f / 700)) from 0 to half the sample rate; the logarithm of each plus
//                1e-6. Equivalent to torchaudio's MelSpectrogram with center=False, n_fft set to
//                the power of two and mel_scale "htk".
// Thread safety: immutable; any thread.

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

  // Number of time steps for this number of samples.
  std::int64_t times(std::int64_t samples) const noexcept;
  // Writes (bands, times), row by row. With a `pitch` other than 1 every frequency is multiplied by
  // it and the timing does not change: only magnitudes of the transform are used, so they can be
  // moved along the frequency axis without matching phases. Frequencies outside the range are
  // dropped. REQUIRES: pitch > 0.
  void draw(std::span<const float> samples, float* out, double pitch = 1) const;

 private:
  Options options_;
  std::size_t size_ = 1;  // of the transform
  std::vector<float> window_;
  std::vector<std::complex<float>> turns_;  // twiddle factors of the transform
  std::vector<float> bands_;                // (bands, size / 2 + 1)
};

// In-place Fourier transform of a number of values that is a power of two. `turns` contains exp(-2
// pi i k / size) for the first half of k.
void transform_in_place(std::span<std::complex<float>> values,
                        std::span<const std::complex<float>> turns);

}  // namespace trireme::data::audio
