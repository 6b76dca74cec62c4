// A data set of four IDX files in one folder, as MNIST and its followers come:
//
//   train-images-idx3-ubyte  train-labels-idx1-ubyte  t10k-images-idx3-ubyte t10k-labels-idx1-ubyte
//
// each plain or with .gz; "train-images.idx3-ubyte" is understood too.
//
// Failure: NotFound says what to install or which files to put where.

#pragma once

#include <filesystem>
#include <vector>

#include "trireme/data/idx/idx_config.h"
#include "trireme/data/registry.h"

namespace trireme::data::idx {

Sets open_idx(const IdxConfig& config);

// Where the files of a configuration are looked for, in this order.
std::vector<std::filesystem::path> folders_of(const IdxConfig& config);

}  // namespace trireme::data::idx
