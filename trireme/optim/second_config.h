// SecondConfig is the section `[optim.second]`: a second optimizer for the weights that it names.
// Its kinds are those of [optim], and none.

#pragma once

#include <string>
#include <vector>

#include "trireme/base/config/fields.h"

namespace trireme::optim {

struct SecondConfig {
  std::vector<std::string> names = {};  // NOLINT(readability-redundant-member-init)

  static void describe(config::Fields<SecondConfig>& f) {
    f.add("names", &SecondConfig::names)
        .help(
            "names of the weights that this optimizer updates, such as discriminator.*; * matches "
            "any text");
  }
};

struct NoSecondConfig {
  static void describe(config::Fields<NoSecondConfig>&) {}
};

}  // namespace trireme::optim
