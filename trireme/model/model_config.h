// ModelConfig contains the settings of `[model]` that all kinds of models share.

#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "trireme/base/config/fields.h"

namespace trireme::model {

struct ModelConfig {
  bool recompute = false;
  std::filesystem::path load = {};  // NOLINT(readability-redundant-member-init)
  bool is_load_strict = true;
  std::vector<std::string> load_renames = {};  // NOLINT(readability-redundant-member-init)

  static void describe(config::Fields<ModelConfig>& f) {
    f.add("recompute", &ModelConfig::recompute)
        .help("forget activations inside each block and compute them again in backward");
    f.add("load", &ModelConfig::load)
        .help(
            "first weights: a Hugging Face folder, a .safetensors file, an archive of torch.save, "
            "a "
            "job or checkpoint");
    f.add("load_strict", &ModelConfig::is_load_strict)
        .help("refuse a file that lacks weights, or has others or of other sizes");
    f.add("load_renames", &ModelConfig::load_renames)
        .help("\"theirs=ours\": what names in the file are read as; \"model.=\" drops a prefix");
  }
};

}  // namespace trireme::model
