#include "trireme/data/memory/synthetic_config.h"

namespace trireme::data::memory {
namespace {

std::string complaint_of(const SyntheticConfig& c) {
  const std::size_t dims = c.task == Task::Images ? 3 : 1;
  if (!c.sizes.empty() && c.sizes.size() != dims) {
    return "sizes has " + std::to_string(c.sizes.size()) + " numbers, and this task wants " +
           std::to_string(dims);
  }
  return {};
}

}  // namespace

void SyntheticConfig::describe(config::Fields<SyntheticConfig>& f) {
  f.add("task", &SyntheticConfig::task)
      .names({{"images", Task::Images},
              {"classification", Task::Classification},
              {"regression", Task::Regression},
              {"tokens", Task::Tokens}})
      .help("the kind of data to generate");
  f.add("count", &SyntheticConfig::count)
      .range(1, std::int64_t{1} << 48)
      .unit("samples")
      .help("to train on");
  f.add("test_count", &SyntheticConfig::test_count)
      .range(0, std::int64_t{1} << 48)
      .unit("samples")
      .help("to evaluate on; 0: none");
  f.add("sizes", &SyntheticConfig::sizes)
      .range(1, 1 << 20)
      .help(
          "of an input: images [channels, height, width], else [features] or [tokens]; empty: "
          "[1, 28, 28], [16] or [64]");
  f.add("classes", &SyntheticConfig::classes)
      .range(2, 1 << 20)
      .help("or tokens of the vocabulary; of no meaning for regression");
  f.add("noise", &SyntheticConfig::noise)
      .range(0, 1000)
      .help("deviation of what is random about an image or a number to predict");
  f.add("seed", &SyntheticConfig::seed).help("of all that is made up");
  f.require(complaint_of);
}

}  // namespace trireme::data::memory
