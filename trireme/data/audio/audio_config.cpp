#include "trireme/data/audio/audio_config.h"

namespace trireme::data::audio {

void AudioConfig::describe(config::Fields<AudioConfig>& f) {
  using T = AudioConfig;
  f.add("train", &T::train).help("folder with a folder of .wav files for each class");
  f.add("test", &T::test).help("the same to evaluate on; empty: none");
  f.add("sample_rate", &T::rate)
      .range(100, 1 << 20)
      .unit("samples")
      .help("a second; files of another rate are brought to it, linear between samples");
  f.add("seconds", &T::seconds)
      .range(0.001, 3600.0)
      .help("of each file that are taken; a shorter one ends in silence");
  f.add("win_length", &T::window)
      .range(2, 1 << 16)
      .unit("samples")
      .help("that are looked at at once");
  f.add("hop_length", &T::hop)
      .range(1, 1 << 16)
      .unit("samples")
      .help("from one window to the next");
  f.add("n_mels", &T::bands).range(1, 1024).help("of pitch, by the mel scale");
  f.add("speed", &T::speed)
      .range(0.0, 0.9)
      .help("0.1: training sounds play at 0.9 to 1.1 of their speed, and their pitch with it");
  f.add("pitch", &T::pitch)
      .range(0.0, 24.0)
      .unit("semitones")
      .help("by which training sounds are higher or lower at most, as long as they were");
  f.add("shift", &T::shift)
      .range(0.0, 1.0)
      .help("share of the sound by which training ones begin earlier or later at most");
  f.add("noise", &T::noise).range(0.0, 1.0).help("deviation of noise added to training sounds");
  f.add("freq_mask", &T::freq_mask)
      .range(0, 1024)
      .help("SpecAugment: at most so many bands of a training sample are blanked");
  f.add("time_mask", &T::time_mask)
      .range(0, 1 << 16)
      .help("SpecAugment: at most so many times of a training sample are blanked");
  describe_bad_samples(f);
}

}  // namespace trireme::data::audio
