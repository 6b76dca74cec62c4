// AudioSource is a folder of WAV files, a folder a class, as spectrograms: images of one channel,
// (1, bands, times), which any model of images takes.
//
// Meaning: classes are the folders in the order of their names, samples the files in the order of
//          theirs. For training a sound is changed (speed, pitch, shift, noise) and its picture too
//          (bands and times set to its mean), all drawn from its key.
// Threads: constant; any thread.
// Failure: NotFound; InvalidInput where there is no sound or it is shorter than a window; read()
//          throws Corrupt with the file's name.

#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "trireme/base/random.h"
#include "trireme/data/audio/audio_config.h"
#include "trireme/data/audio/spectrogram.h"
#include "trireme/data/class_folder.h"
#include "trireme/data/registry.h"
#include "trireme/data/source.h"

namespace trireme::data::audio {

class AudioSource final : public Source {
 public:
  struct Options {
    std::filesystem::path folder;
    AudioConfig config;
    bool is_training = false;
    std::vector<std::string> classes = {};  // those that there may be; empty: whatever there are
  };

  explicit AudioSource(const Options& options);

  std::int64_t count() const override { return std::ssize(files_); }
  const Form& form() const override { return form_; }
  void read(std::int64_t sample, const SampleKey& key, void* input, void* target) const override;
  void read_target(std::int64_t sample, void* target) const override;

 private:
  std::vector<float> sound_of(const ClassFile& file, Random* random) const;
  void mask(float* picture, Random& random) const;
  const ClassFile& file(std::int64_t sample) const;

  Options options_;
  std::int64_t samples_;  // of a sound
  Spectrogram spectrogram_;
  std::vector<ClassFile> files_;
  Form form_;
};

Sets open_audio(const AudioConfig& config);

}  // namespace trireme::data::audio
