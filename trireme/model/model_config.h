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
    f.add("activation_checkpointing", &ModelConfig::recompute)
        .synonyms({"recompute", "gradient_checkpointing", "checkpoint_activations"})
        .help(
            "gradient (activation) checkpointing: discard activations inside each block and "
            "recompute them in backward");
    f.add("load", &ModelConfig::load)
        .help(
            "initial weights: a Hugging Face folder, a .safetensors file, an archive of "
            "torch.save, a job or a checkpoint");
    f.add("load_strict", &ModelConfig::is_load_strict)
        .help("refuse a file with missing or unknown weights or other sizes");
    f.add("load_renames", &ModelConfig::load_renames)
        .help("\"theirs=ours\": renames weights of the file; \"model.=\" removes a prefix");
  }
};

}  // namespace trireme::model
