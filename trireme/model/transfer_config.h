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
  std::vector<std::string> lora_layers = {"*"};
  std::vector<std::string> lora_beside = {};  // NOLINT(readability-redundant-member-init)

  static void describe(config::Fields<TransferConfig>& f) {
    using T = TransferConfig;
    f.add("load_fresh", &T::load_fresh)
        .help(
            "names of weights that are not taken from load but begin anew, such as a head's; * "
            "stands for anything");
    f.add("freeze", &T::freeze)
        .help("names of weights that are not trained; * stands for anything");
    f.add("lora_rank", &T::lora_rank)
        .range(0, 4096)
        .help("learn a change of this rank to the weights of layers and leave the rest; 0: no");
    f.add("lora_alpha", &T::lora_alpha)
        .range(0.0, 1e6)
        .help("the change counts alpha / rank times; 0: the rank, so once");
    f.add("lora_layers", &T::lora_layers).help("names of the linear layers that are changed so");
    f.add("lora_beside", &T::lora_beside)
        .help("names of weights that are trained in full beside them, such as a new head's");
  }
};

}  // namespace trireme::model
