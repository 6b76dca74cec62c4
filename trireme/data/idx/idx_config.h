// IdxConfig is the `[data]` section of kind idx.
//
// Thread safety: a value type.

#pragma once

#include <filesystem>

#include "trireme/base/config/fields.h"

namespace trireme::data::idx {

enum class Name { FashionMnist, Mnist, Other };

struct IdxConfig {
  Name set = Name::FashionMnist;
  std::filesystem::path folder;
  std::int64_t classes = 0;

  static void describe(config::Fields<IdxConfig>& f);
};

}  // namespace trireme::data::idx
