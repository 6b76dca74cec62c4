// FolderConfig is `[data]` of kind images.
//
// Threads: a value.

#pragma once

#include <filesystem>

#include "trireme/base/config/fields.h"

namespace trireme::data::image {

struct FolderConfig {
  std::filesystem::path train;
  std::filesystem::path test = {};  // NOLINT(readability-redundant-member-init)
  std::vector<std::int64_t> size = {224, 224};
  bool is_grey = false;

  static void describe(config::Fields<FolderConfig>& f);
};

}  // namespace trireme::data::image
