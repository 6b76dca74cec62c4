// Reads CIFAR-10 or CIFAR-100 in the original binary format, memory-mapped: records of one
// or two labels and 3 * 32 * 32 bytes.
//
// Semantics:     the input is (3, 32, 32) with values from 0 to 1, red first; the target is the
//                label. Class names are read from batches.meta.txt, fine_label_names.txt or
//                coarse_label_names.txt, if that file is beside the data.
// Thread safety: immutable; any thread.
// Errors:        NotFound, with which files to put where; Corrupt, with file and offset, for a
//                truncated record or an invalid label.

#pragma once

#include <filesystem>

#include "trireme/base/config/fields.h"
#include "trireme/data/registry.h"
#include "trireme/data/source/source.h"

namespace trireme::data::cifar {

enum class CifarName {
  Cifar10,
  Cifar100,
  Cifar20,  // CIFAR-100 with its twenty superclasses
};

// The `[data]` section of kind cifar.
struct CifarConfig {
  CifarName set = CifarName::Cifar10;
  std::filesystem::path folder;

  static void describe(config::Fields<CifarConfig>& f);
};

Sets open_cifar(const CifarConfig& config);
std::shared_ptr<const Source> open_test_cifar(const CifarConfig& config);

}  // namespace trireme::data::cifar
