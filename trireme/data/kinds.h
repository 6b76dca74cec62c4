// The built-in kinds of data: idx, cifar, images, audio, text, tokens, csv, json_lines, synthetic.
// Tensors in memory and torch::data sets cannot be used in a recipe; see trireme/data/memory.
//
// Thread safety: pure functions; any thread.
// Errors:        opening data throws NotFound, with which files to put where, InvalidInput,
// Corrupt,
//                or Unsupported if this build lacks a library.

#pragma once

#include "trireme/data/registry.h"

namespace trireme::data {

void add_kinds(DataRegistry& registry);

}  // namespace trireme::data
