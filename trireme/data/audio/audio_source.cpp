#include "trireme/data/audio/audio_source.h"

#include <algorithm>
#include <cmath>

#include "trireme/base/check.h"
#include "trireme/base/error.h"
#include "trireme/base/file/file.h"
#include "trireme/base/random.h"
#include "trireme/data/audio/spectrogram.h"
#include "trireme/data/audio/wav.h"
#include "trireme/data/transform/sample_random.h"

namespace trireme::data::audio {
namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t kAudioPurpose = 0x415544494F;

std::int64_t drawn_below(Random& random, std::int64_t bound) {
  return static_cast<std::int64_t>(random.below(static_cast<std::uint64_t>(bound)));
}

class AudioSource final : public Source {
 public:
  struct Options {
    std::filesystem::path folder;
    AudioConfig config;
    bool is_training = false;
    std::vector<std::string> classes = {};  // the allowed classes; empty: all that exist
  };

  explicit AudioSource(const Options& options)
      : options_(options),
        samples_(std::llround(options.config.seconds * static_cast<double>(options.config.rate))),
        spectrogram_({.rate = options.config.rate,
                      .window = options.config.window,
                      .hop = options.config.hop,
                      .bands = options.config.bands}) {
    const std::int64_t times = spectrogram_.times(samples_);
    if (times == 0) {
      throw Error(ErrorCode::InvalidInput,
                  "data.seconds: " + std::to_string(samples_) + " samples are less than a window");
    }
    ClassFolder all = list_classes(options.folder, {".wav"}, options.classes);
    files_ = std::move(all.files);
    form_ = {.input_sizes = {1, options.config.bands, times},
             .classes = std::ssize(all.classes),
             .class_names = all.classes,
             .are_bad_samples_skipped = options.config.bad_samples == BadSamples::Skip};
  }

  std::int64_t count() const override { return std::ssize(files_); }
  const Form& form() const override { return form_; }
  void read(std::int64_t sample, const SampleKey& key, void* input, void* target) const override {
    Random random = transform::random_of(key, kAudioPurpose);
    const std::vector<float> sound =
        sound_of(file(sample), options_.is_training ? &random : nullptr);
    auto* const picture = static_cast<float*>(input);
    double pitch = 1;
    if (options_.is_training && options_.config.pitch > 0) {
      pitch = std::exp2(options_.config.pitch * (2 * random.uniform_double() - 1) / 12);
    }
    spectrogram_.draw(sound, picture, pitch);
    if (options_.is_training) mask(picture, random);
    read_target(sample, target);
  }

  void read_target(std::int64_t sample, void* target) const override {
    *static_cast<std::int64_t*>(target) = file(sample).label;
  }

 private:
  // Returns the fixed number of samples that every sound has.
  std::vector<float> sound_of(const ClassFile& file, Random* random) const {
    const AudioConfig& config = options_.config;
    const fs::path path = options_.folder / file.name;
    Sound sound;
    try {
      const std::string content = read_file(path);
      sound = read_wav(bytes_of(content));
    } catch (const Error& error) {
      if (error.code() != ErrorCode::Corrupt && error.code() != ErrorCode::Unsupported) throw;
      const bool is_advised = error.code() == ErrorCode::Corrupt && !form_.are_bad_samples_skipped;
      throw Error(error.code(),
                  path.string() + ": " + error.message() + (is_advised ? kSkipAdvice : ""));
    }
    double factor = static_cast<double>(sound.rate) / static_cast<double>(config.rate);
    if (random != nullptr && config.speed > 0) {
      factor *= 1 + config.speed * (2 * random->uniform_double() - 1);
    }
    std::vector<float> samples =
        factor == 1 ? sound.samples : hurried(sound.samples, factor, 2 * samples_);
    std::int64_t late = 0;
    if (random != nullptr && config.shift > 0) {
      const auto most = static_cast<std::int64_t>(config.shift * static_cast<double>(samples_));
      late = drawn_below(*random, 2 * most + 1) - most;
    }
    std::vector<float> out(static_cast<std::size_t>(samples_));
    for (std::int64_t i = 0; i < samples_; ++i) {
      const std::int64_t from = i - late;
      const bool is_there = from >= 0 && from < std::ssize(samples);
      float& to = out[static_cast<std::size_t>(i)];
      if (is_there) to = samples[static_cast<std::size_t>(from)];
      if (random != nullptr && config.noise > 0) {
        to += static_cast<float>(config.noise * random->normal());
      }
    }
    return out;
  }

  void mask(float* picture, Random& random) const {
    const std::int64_t bands = form_.input_sizes[1], times = form_.input_sizes[2];
    double sum = 0;
    for (std::int64_t i = 0; i < bands * times; ++i) sum += picture[i];
    const auto mean = static_cast<float>(sum / static_cast<double>(bands * times));
    const auto blank = [&](std::int64_t most, std::int64_t all) {
      const std::int64_t count = drawn_below(random, std::min(most, all) + 1);
      const std::int64_t begin = drawn_below(random, all - count + 1);
      return std::pair(begin, begin + count);
    };
    const auto [low, high] = blank(options_.config.freq_mask, bands);
    const auto [from, to] = blank(options_.config.time_mask, times);
    for (std::int64_t band = 0; band < bands; ++band) {
      for (std::int64_t time = 0; time < times; ++time) {
        const bool is_blank = (band >= low && band < high) || (time >= from && time < to);
        if (is_blank) picture[band * times + time] = mean;
      }
    }
  }

  const ClassFile& file(std::int64_t sample) const {
    TRIREME_CHECK(sample >= 0 && sample < count(), "sample ", sample, " of ", count());
    return files_[static_cast<std::size_t>(sample)];
  }

  Options options_;
  std::int64_t samples_;  // per sound
  Spectrogram spectrogram_;
  std::vector<ClassFile> files_;
  Form form_;
};

}  // namespace

Sets open_audio(const AudioConfig& config) {
  if (config.train.empty()) {
    throw Error(ErrorCode::InvalidInput,
                "data.train: name the folder whose folders hold the sounds of a class each");
  }
  auto train = std::make_shared<AudioSource>(
      AudioSource::Options{.folder = config.train, .config = config, .is_training = true});
  Sets sets{.train = train,
            .plain = std::make_shared<AudioSource>(
                AudioSource::Options{.folder = config.train, .config = config})};
  sets.test = open_test_audio(config, {.source = train->form()});
  return sets;
}

std::shared_ptr<const Source> open_test_audio(const AudioConfig& config,
                                              const Preprocessing& known) {
  if (config.test.empty()) return nullptr;
  return std::make_shared<AudioSource>(AudioSource::Options{
      .folder = config.test, .config = config, .classes = known.source.class_names});
}

void AudioConfig::describe(config::Fields<AudioConfig>& f) {
  using T = AudioConfig;
  f.add("train", &T::train).help("folder with a folder of .wav files for each class");
  f.add("test", &T::test).help("the same to evaluate on; empty: none");
  f.add("sample_rate", &T::rate)
      .range(100, 1 << 20)
      .unit("samples")
      .help("per second; files of another rate are converted, linear between samples");
  f.add("seconds", &T::seconds)
      .range(0.001, 3600.0)
      .help("length of a sample; longer files are cut, shorter ones end in silence");
  f.add("win_length", &T::window)
      .range(2, 1 << 16)
      .unit("samples")
      .help("length of a window of the spectrogram");
  f.add("hop_length", &T::hop)
      .range(1, 1 << 16)
      .unit("samples")
      .help("distance from one window to the next");
  f.add("n_mels", &T::bands).range(1, 1024).help("number of mel bands");
  f.add("speed", &T::speed)
      .range(0.0, 0.9)
      .help("0.1: training sounds play at 0.9 to 1.1 of their speed, and their pitch with it");
  f.add("pitch", &T::pitch)
      .range(0.0, 24.0)
      .unit("semitones")
      .help("pitch of training sounds changes by at most this much; their length does not");
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
