// Reads a folder of WAV files, with one sub-folder per class, as spectrograms: images with one
// channel, (1, bands, times), which any image model accepts.
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

#include "trireme/base/config/fields.h"
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

Sets open_audio(const AudioConfig& config);
std::shared_ptr<const Source> open_test_audio(const AudioConfig& config,
                                              const Preprocessing& known);

}  // namespace trireme::data::audio
