// FolderConfig is the `[data]` section of kind images.
//
// Thread safety: a value type.

#pragma once

#include <filesystem>

#include "trireme/base/config/fields.h"
#include "trireme/data/source/class_folder.h"

namespace trireme::data::image {

struct FolderConfig {
  std::filesystem::path train;
  std::filesystem::path test = {};  // NOLINT(readability-redundant-member-init)
  std::vector<std::int64_t> size = {224, 224};
  bool is_grey = false;
  BadSamples bad_samples = BadSamples::Error;

  static void describe(config::Fields<FolderConfig>& f);
};

}  // namespace trireme::data::image
