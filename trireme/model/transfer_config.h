// TransferConfig contains the settings of `[model]` for pretrained weights: which of them are
// reinitialized, which are frozen, and whether LoRA is used.

#pragma once

#include <string>
#include <vector>

#include "trireme/base/config/fields.h"

namespace trireme::model {

struct TransferConfig {
  std::vector<std::string> load_fresh = {};  // NOLINT(readability-redundant-member-init)
  std::vector<std::string> freeze = {};      // NOLINT(readability-redundant-member-init)
  int lora_rank = 0;
  double lora_alpha = 0;
  std::vector<std::string> lora_target_modules = {"*"};
  std::vector<std::string> lora_modules_to_save = {};  // NOLINT(readability-redundant-member-init)

  static void describe(config::Fields<TransferConfig>& f) {
    using T = TransferConfig;
    f.add("load_fresh", &T::load_fresh)
        .help(
            "names of weights that are not loaded but initialized, such as a head's; * matches "
            "any text");
    f.add("freeze", &T::freeze).help("names of frozen weights; * matches any text");
    f.add("lora_rank", &T::lora_rank)
        .range(0, 4096)
        .help("train LoRA adapters of this rank and freeze all other weights; 0: no LoRA");
    f.add("lora_alpha", &T::lora_alpha)
        .range(0.0, 1e6)
        .help("adapters are scaled by alpha / rank; 0: alpha is the rank, so the scale is 1");
    f.add("lora_target_modules", &T::lora_target_modules)
        .help("names of the linear layers with a LoRA adapter");
    f.add("lora_modules_to_save", &T::lora_modules_to_save)
        .help("names of weights that are trained in full in addition, such as a new head's");
  }
};

}  // namespace trireme::model
