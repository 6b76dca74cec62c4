#include "trireme/data/data_config.h"

namespace trireme::data {

void DataConfig::describe(config::Fields<DataConfig>& f) {
  f.add("num_workers", &DataConfig::threads)
      .synonyms({"threads", "workers", "dataloader_num_workers"})
      .range(0, 256)
      .help("number of threads that read samples while a step runs; 0: read between steps");
  f.add("prefetch_factor", &DataConfig::ahead)
      .synonyms({"ahead", "prefetch"})
      .range(1, 1024)
      .help("steps whose batches are read in advance");
  f.add("shuffle", &DataConfig::is_shuffled).help("train in another order each epoch");
  f.add("drop_last", &DataConfig::is_last_dropped)
      .help("leave out the last batch of an epoch where it is smaller than the others");
  f.add("target", &DataConfig::target)
      .names({{"labels", Target::Labels}, {"input", Target::Input}})
      .help("what is to be predicted: labels, or input, the sample itself");
  f.add("extra", &DataConfig::extra)
      .help(
          "folder of more pictures to train on, as trireme generate --to writes them; empty: none");
  f.add("class_groups", &DataConfig::class_groups)
      .range(0, 1 << 20)
      .help(
          "the group of each class, from 0: to be predicted beside it, by model.kind = multitask");
  f.add("input_mean", &DataConfig::has_input_mean)
      .help("the mean of a sample's numbers is to be predicted beside its class, by multitask");
  f.require([](const DataConfig& c) {
    return c.has_tasks() && c.target == Target::Input
               ? std::string("class_groups and input_mean go with target = \"labels\"")
               : std::string();
  });
}

}  // namespace trireme::data
