#include "trireme/data/image/folder_config.h"

namespace trireme::data::image {

void FolderConfig::describe(config::Fields<FolderConfig>& f) {
  f.add("train", &FolderConfig::train)
      .help("folder with a folder of .jpg, .jpeg and .png files for each class");
  f.add("test", &FolderConfig::test).help("the same to evaluate on; empty: none");
  f.add("size", &FolderConfig::size)
      .range(1, 1 << 14)
      .help("[height, width]: pictures are scaled to cover it, and their middle is taken");
  f.add("grayscale", &FolderConfig::is_grey).help("one channel instead of three");
  describe_bad_samples(f);
  f.require([](const FolderConfig& c) {
    return c.size.size() == 2 ? std::string() : std::string("size is [height, width]");
  });
}

}  // namespace trireme::data::image
