#include "trireme/data/idx/idx_config.h"

namespace trireme::data::idx {

void IdxConfig::describe(config::Fields<IdxConfig>& f) {
  f.add("set", &IdxConfig::set)
      .names(
          {{"fashion_mnist", Name::FashionMnist}, {"mnist", Name::Mnist}, {"other", Name::Other}})
      .help("which data set the files are");
  f.add("folder", &IdxConfig::folder)
      .help("where its four files are; empty: where packages of this set put them");
  f.add("classes", &IdxConfig::classes)
      .range(0, 256)
      .help("how many there are; 0: one more than the largest label");
  f.require([](const IdxConfig& c) {
    const bool is_lost = c.set == Name::Other && c.folder.empty();
    return is_lost ? std::string("set = \"other\" needs a folder") : std::string();
  });
}

}  // namespace trireme::data::idx
