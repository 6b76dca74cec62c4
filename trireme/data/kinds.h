// The kinds of data that Trireme brings: idx, cifar, images, audio, text, tokens, csv, synthetic.
// Tensors in memory and torch::data sets have no recipe; see trireme/data/memory.
//
// Threads: pure.
// Failure: open_data() throws what opening the files throws: NotFound with what to put where,
//          InvalidInput, Corrupt, or Unsupported where this build lacks a library.

#pragma once

#include "trireme/data/registry.h"

namespace trireme::data {

void add_kinds(Registry& registry);

// The same for a program that has no kinds of its own.
void add_data_sections(config::Schema& schema);
Sets open_data(const config::Config& config);

}  // namespace trireme::data
