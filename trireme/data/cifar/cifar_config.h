// CifarConfig is the `[data]` section of kind cifar.
//
// Thread safety: a value type.

#pragma once

#include <filesystem>

#include "trireme/base/config/fields.h"

namespace trireme::data::cifar {

enum class Name {
  Cifar10,
  Cifar100,
  Cifar20,  // CIFAR-100 with its twenty superclasses
};

struct CifarConfig {
  Name set = Name::Cifar10;
  std::filesystem::path folder;

  static void describe(config::Fields<CifarConfig>& f);
};

}  // namespace trireme::data::cifar
