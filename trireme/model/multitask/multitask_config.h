// MultitaskConfig: a trunk that all tasks share, one head per task, and the weights of the tasks.

#pragma once

#include <cstdint>
#include <vector>

#include "trireme/base/config/fields.h"

namespace trireme::model {

enum class TaskWeighting {
  Fixed,        // set in the recipe
  Uncertainty,  // learned: Kendall, Gal and Cipolla, 2018
};

struct MultitaskConfig {
  std::vector<std::int64_t> channels = {};  // NOLINT(readability-redundant-member-init)
  std::int64_t kernel = 5;
  std::vector<std::int64_t> widths = {128};
  double dropout = 0;
  TaskWeighting weighting = TaskWeighting::Fixed;
  std::vector<double> weights = {};  // NOLINT(readability-redundant-member-init)

  static void describe(config::Fields<MultitaskConfig>& f) {
    using T = MultitaskConfig;
    f.add("channels", &T::channels)
        .range(1, 1 << 16)
        .help("channels of each convolution of the trunk, first to last; each halves the image");
    f.add("kernel_size", &T::kernel)
        .range(1, 31)
        .check([](const std::int64_t& kernel) {
          return kernel % 2
                     ? ""
                     : "is even; use an odd kernel size, for which padding keeps the image size";
        })
        .unit("pixels")
        .help("kernel size of the convolutions");
    f.add("hidden_sizes", &T::widths)
        .range(1, 1 << 20)
        .help("hidden sizes of the trunk's fully connected layers, after its convolutions");
    f.add("dropout", &T::dropout).range(0.0, 0.99).help("dropout probability of these layers");
    f.add("weighting", &T::weighting)
        .names({{"fixed", TaskWeighting::Fixed}, {"uncertainty", TaskWeighting::Uncertainty}})
        .help(
            "how task losses are weighted: fixed weights, or weights learned from each task's "
            "uncertainty");
    f.add("weights", &T::weights)
        .at_least(0.0)
        .help("weight of each task's loss if weighting is fixed; empty: 1");
    f.require([](const T& c) {
      return c.weighting == TaskWeighting::Uncertainty && !c.weights.empty()
                 ? std::string("weights require weighting = \"fixed\"")
                 : std::string();
    });
  }
};

}  // namespace trireme::model
