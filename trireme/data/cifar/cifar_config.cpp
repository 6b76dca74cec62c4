#include "trireme/data/cifar/cifar_config.h"

namespace trireme::data::cifar {

void CifarConfig::describe(config::Fields<CifarConfig>& f) {
  f.add("set", &CifarConfig::set)
      .names({{"cifar10", Name::Cifar10}, {"cifar100", Name::Cifar100}, {"cifar20", Name::Cifar20}})
      .help("cifar10, cifar100, or cifar20: CIFAR-100 by its coarse labels");
  f.add("folder", &CifarConfig::folder)
      .help(
          "of the binary version: data_batch_1.bin to _5 and test_batch.bin, or train.bin and "
          "test.bin");
}

}  // namespace trireme::data::cifar
