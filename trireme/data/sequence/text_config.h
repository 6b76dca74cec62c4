// TextConfig is `[data]` of kind text.
//
// Threads: a value.

#pragma once

#include <filesystem>

#include "trireme/base/config/fields.h"

namespace trireme::data::sequence {

enum class Unit { Character, Byte };

struct TextConfig {
  std::filesystem::path file;
  Unit unit = Unit::Character;
  std::int64_t context = 64;
  double validation = 0.1;
  std::int64_t stride = 1;
  std::int64_t test_stride = 0;

  static void describe(config::Fields<TextConfig>& f);
};

}  // namespace trireme::data::sequence
