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
        .help("of each convolution of the trunk, first to last; each halves the image");
    f.add("kernel", &T::kernel)
        .range(1, 31)
        .check([](const std::int64_t& kernel) {
          return kernel % 2 ? "" : "is even; the padding keeps the image's size for odd ones only";
        })
        .unit("pixels")
        .help("side of the convolutions");
    f.add("widths", &T::widths)
        .range(1, 1 << 20)
        .help("neurons of each layer of the trunk, after its convolutions");
    f.add("dropout", &T::dropout)
        .range(0.0, 0.99)
        .help("share of these layers that training drops");
    f.add("weighting", &T::weighting)
        .names({{"fixed", TaskWeighting::Fixed}, {"uncertainty", TaskWeighting::Uncertainty}})
        .help("what each task's loss counts: weights, or what is learned, by how unsure it is");
    f.add("weights", &T::weights)
        .at_least(0.0)
        .help("what each task's loss counts where weighting is fixed; empty: 1");
    f.require([](const T& c) {
      return c.weighting == TaskWeighting::Uncertainty && !c.weights.empty()
                 ? std::string("weights are for weighting = \"fixed\"")
                 : std::string();
    });
  }
};

}  // namespace trireme::model
