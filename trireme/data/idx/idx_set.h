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

// The pictures of the two files train-... in a folder alone, of so many classes.
std::shared_ptr<const Source> open_pictures(const std::filesystem::path& folder,
                                            std::int64_t classes);

// Writes those two: `pixels` are bytes (count, height, width, channels), `labels` a byte each.
struct Pictures {
  std::vector<std::int64_t> sizes;  // count, height, width, channels
  std::vector<std::uint8_t> pixels;
  std::vector<std::uint8_t> labels;
};
void write_pictures(const std::filesystem::path& folder, const Pictures& pictures);

// Where the files of a configuration are looked for, in this order.
std::vector<std::filesystem::path> folders_of(const IdxConfig& config);

}  // namespace trireme::data::idx
