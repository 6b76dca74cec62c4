// A data set of four IDX files in one folder, like MNIST and its successors:
//
//   train-images-idx3-ubyte  train-labels-idx1-ubyte  t10k-images-idx3-ubyte t10k-labels-idx1-ubyte
//
// each plain or with .gz. The form "train-images.idx3-ubyte" is accepted too.
//
// Errors: NotFound, which says what to install or which files to put where.

#pragma once

#include <filesystem>
#include <vector>

#include "trireme/base/config/fields.h"
#include "trireme/data/registry.h"

namespace trireme::data::idx {

enum class IdxName { FashionMnist, Mnist, Other };

// The `[data]` section of kind idx.
struct IdxConfig {
  IdxName set = IdxName::FashionMnist;
  std::filesystem::path folder;
  std::int64_t classes = 0;

  static void describe(config::Fields<IdxConfig>& f);
};

Sets open_idx(const IdxConfig& config);
// Opens only the two files t10k-...
std::shared_ptr<const Source> open_test_idx(const IdxConfig& config, const Preprocessing& known);

// Opens only the images of the two files train-... in a folder, with this number of classes.
std::shared_ptr<const Source> open_pictures(const std::filesystem::path& folder,
                                            std::int64_t classes);

// Writes those two files: `pixels` contains bytes (count, height, width, channels), `labels` one
// byte per image.
struct Pictures {
  std::vector<std::int64_t> sizes;  // count, height, width, channels
  std::vector<std::uint8_t> pixels;
  std::vector<std::uint8_t> labels;
};
void write_pictures(const std::filesystem::path& folder, const Pictures& pictures);

// The folders that are searched for the files of a configuration, in this order.
std::vector<std::filesystem::path> folders_of(const IdxConfig& config);
// The first of these that has all four files; empty if none has.
std::filesystem::path found_folder(const IdxConfig& config);

}  // namespace trireme::data::idx
