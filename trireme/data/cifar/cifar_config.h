// CifarConfig is `[data]` of kind cifar.
//
// Threads: a value.

#pragma once

#include <filesystem>

#include "trireme/base/config/fields.h"

namespace trireme::data::cifar {

enum class Name {
  Cifar10,
  Cifar100,
  Cifar20,  // CIFAR-100 by its twenty groups of classes
};

struct CifarConfig {
  Name set = Name::Cifar10;
  std::filesystem::path folder;

  static void describe(config::Fields<CifarConfig>& f);
};

}  // namespace trireme::data::cifar
