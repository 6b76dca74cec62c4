#include "trireme/data/audio/spectrogram.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <numbers>

#include "trireme/base/check.h"

namespace trireme::data::audio {
namespace {

double mel_of(double frequency) {
  return 2595 * std::log10(1 + frequency / 700);
}

double frequency_of(double mel) {
  return 700 * (std::pow(10, mel / 2595) - 1);
}

std::vector<float> mel_bands(const Spectrogram::Options& options, std::size_t bins) {
  const double half = static_cast<double>(options.rate) / 2;
  std::vector<double> edges;
  for (std::int64_t i = 0; i < options.bands + 2; ++i) {
    edges.push_back(frequency_of(mel_of(half) * static_cast<double>(i) /
                                 static_cast<double>(options.bands + 1)));
  }
  std::vector<float> bands;
  for (std::size_t band = 0; band + 2 < edges.size(); ++band) {
    for (std::size_t bin = 0; bin < bins; ++bin) {
      const double f = half * static_cast<double>(bin) / static_cast<double>(bins - 1);
      const double up = (f - edges[band]) / (edges[band + 1] - edges[band]);
      const double down = (edges[band + 2] - f) / (edges[band + 2] - edges[band + 1]);
      bands.push_back(static_cast<float>(std::max(0.0, std::min(up, down))));
    }
  }
  return bands;
}

// Moves each frequency to `pitch` times its value, with linear interpolation between bins. The
// total is preserved: n bins are spread over pitch * n bins.
void raise(std::span<const float> power, double pitch, std::span<float> out) {
  for (std::size_t bin = 0; bin < out.size(); ++bin) {
    const double from = static_cast<double>(bin) / pitch;
    const auto low = static_cast<std::size_t>(from);
    const auto share = static_cast<float>(from - static_cast<double>(low));
    const float here = low < power.size() ? power[low] : 0;
    const float next = low + 1 < power.size() ? power[low + 1] : 0;
    out[bin] = ((1 - share) * here + share * next) / static_cast<float>(pitch);
  }
}

}  // namespace

void transform_in_place(std::span<std::complex<float>> values,
                        std::span<const std::complex<float>> turns) {
  const std::size_t size = values.size();
  for (std::size_t i = 1, j = 0; i < size; ++i) {
    std::size_t bit = size >> 1;
    for (; (j & bit) != 0; bit >>= 1) j ^= bit;
    j ^= bit;
    if (i < j) std::swap(values[i], values[j]);
  }
  for (std::size_t length = 2; length <= size; length *= 2) {
    const std::size_t step = size / length;
    for (std::size_t begin = 0; begin < size; begin += length) {
      for (std::size_t k = 0; k < length / 2; ++k) {
        const std::complex<float> even = values[begin + k];
        const std::complex<float> odd = values[begin + k + length / 2] * turns[k * step];
        values[begin + k] = even + odd;
        values[begin + k + length / 2] = even - odd;
      }
    }
  }
}

Spectrogram::Spectrogram(const Options& options) : options_(options) {
  TRIREME_CHECK(options.rate > 0 && options.window > 0 && options.hop > 0 && options.bands > 0,
                "a spectrogram of nothing");
  size_ = std::bit_ceil(static_cast<std::size_t>(std::max<std::int64_t>(options.window, 2)));
  const double turn = 2 * std::numbers::pi;
  for (std::int64_t i = 0; i < options.window; ++i) {
    const double at = turn * static_cast<double>(i) / static_cast<double>(options.window);
    window_.push_back(static_cast<float>(0.5 - 0.5 * std::cos(at)));
  }
  for (std::size_t k = 0; k < size_ / 2; ++k) {
    const double at = -turn * static_cast<double>(k) / static_cast<double>(size_);
    turns_.emplace_back(static_cast<float>(std::cos(at)), static_cast<float>(std::sin(at)));
  }
  bands_ = mel_bands(options, size_ / 2 + 1);
}

std::int64_t Spectrogram::times(std::int64_t samples) const noexcept {
  const auto size = static_cast<std::int64_t>(size_);
  return samples < size ? 0 : (samples - size) / options_.hop + 1;
}

void Spectrogram::draw(std::span<const float> samples, float* out, double pitch) const {
  TRIREME_CHECK(pitch > 0, "a pitch of ", pitch, " times");
  const std::int64_t count = times(std::ssize(samples));
  const std::size_t bins = size_ / 2 + 1;
  // As in torch's stft: a short window is centered in the transform.
  const std::size_t pad = (size_ - window_.size()) / 2;
  thread_local std::vector<std::complex<float>> values;
  thread_local std::vector<float> power, plain;
  power.resize(bins);
  for (std::int64_t time = 0; time < count; ++time) {
    values.assign(size_, {});
    const float* const from = samples.data() + time * options_.hop;
    for (std::size_t i = 0; i < window_.size(); ++i) values[pad + i] = window_[i] * from[pad + i];
    transform_in_place(values, turns_);
    for (std::size_t bin = 0; bin < bins; ++bin) power[bin] = std::norm(values[bin]);
    if (pitch != 1) {
      plain = power;
      raise(plain, pitch, power);
    }
    for (std::int64_t band = 0; band < options_.bands; ++band) {
      const float* const weights = bands_.data() + static_cast<std::size_t>(band) * bins;
      float sum = 0;
      for (std::size_t bin = 0; bin < bins; ++bin) sum += weights[bin] * power[bin];
      out[band * count + time] = std::log(sum + 1e-6F);
    }
  }
}

}  // namespace trireme::data::audio
