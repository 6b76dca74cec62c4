// AudioConfig is the `[data]` section of kind audio.
//
// Thread safety: a value type.

#pragma once

#include <filesystem>

#include "trireme/base/config/fields.h"
#include "trireme/data/source/class_folder.h"

namespace trireme::data::audio {

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

}  // namespace trireme::data::audio
