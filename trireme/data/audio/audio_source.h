// AudioSource reads a folder of WAV files, with one sub-folder per class, as spectrograms: images
// with one channel, (1, bands, times), which any image model accepts.
//
// Semantics:     classes are the sub-folders and samples are the files, both in the order of their
//                names. For training a sound is augmented (speed, pitch, shift, noise), and so is
//                its spectrogram (bands and times are set to its mean). All random values are drawn
//                from the sample's key.
// Thread safety: immutable; any thread.
// Errors:        NotFound; InvalidInput if there is no sound or a sound is shorter than a window;
//                read() throws Corrupt with the name of the file.

#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "trireme/base/config/fields.h"
#include "trireme/base/random.h"
#include "trireme/data/audio/spectrogram.h"
#include "trireme/data/registry.h"
#include "trireme/data/source/class_folder.h"
#include "trireme/data/source/source.h"

namespace trireme::data::audio {

// The `[data]` section of kind audio.
struct AudioConfig {
  std::filesystem::path train;
  std::filesystem::path test = {};  // NOLINT(readability-redundant-member-init)
  std::int64_t rate = 16000;
  double seconds = 1;
  std::int64_t window = 400;
  std::int64_t hop = 160;
  std::int64_t bands = 40;
  double speed = 0;
  double pitch = 0;
  double shift = 0;
  double noise = 0;
  std::int64_t freq_mask = 0;
  std::int64_t time_mask = 0;
  BadSamples bad_samples = BadSamples::Error;

  static void describe(config::Fields<AudioConfig>& f);
};

class AudioSource final : public Source {
 public:
  struct Options {
    std::filesystem::path folder;
    AudioConfig config;
    bool is_training = false;
    std::vector<std::string> classes = {};  // the allowed classes; empty: all that exist
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
  std::int64_t samples_;  // per sound
  Spectrogram spectrogram_;
  std::vector<ClassFile> files_;
  Form form_;
};

Sets open_audio(const AudioConfig& config);
std::shared_ptr<const Source> open_test_audio(const AudioConfig& config,
                                              const Preprocessing& known);

}  // namespace trireme::data::audio
