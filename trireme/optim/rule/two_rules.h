// TwoRules applies one of two optimizers to each slice, the one that the slice names, as if each
// optimizer were the only one.
//
// State:         that of the first optimizer, then the state of the second that has other names.
//                State that an optimizer does not use stays zero.
// Grain:         whole parameters if one of them needs these.
// Thread safety: as Optimizer.

#pragma once

#include <array>
#include <memory>
#include <string>
#include <vector>

#include "trireme/base/config/fields.h"
#include "trireme/optim/optimizer.h"

namespace trireme::optim {

// The section `[optim.second]`: a second optimizer for the weights that it names. Its kinds are
// those of [optim], and none.
struct SecondConfig {
  std::vector<std::string> names = {};  // NOLINT(readability-redundant-member-init)

  static void describe(config::Fields<SecondConfig>& f) {
    f.add("names", &SecondConfig::names)
        .help(
            "names of the weights that this optimizer updates, such as discriminator.*; * matches "
            "any text");
  }
};

struct NoSecondConfig {
  static void describe(config::Fields<NoSecondConfig>&) {}
};

class TwoRules final : public Optimizer {
 public:
  TwoRules(std::unique_ptr<Optimizer> first, std::unique_ptr<Optimizer> second);

  Grain grain() const noexcept override;
  std::vector<std::string> state_names() const override { return names_; }

 private:
  // REQUIRES: slices of rule 0 or 1.
  void run(std::span<const Slice> slices, std::int64_t step, double gradient_scale,
           Guard* guard) const override;
  struct Rule {
    std::unique_ptr<Optimizer> optimizer;
    std::vector<std::size_t> states;  // indices of its own state
  };

  std::array<Rule, 2> rules_;
  std::vector<std::string> names_;
};

}  // namespace trireme::optim
