// TwoRules is an optimizer for each of two sets of weights: a slice is updated by the rule that it
// names, as if each were alone with its own.
//
// State:   the first rule's, then what the second has under other names. What a rule has no use for
//          stays zero.
// Grain:   whole parameters where one of them needs these.
// Threads: as Optimizer.

#pragma once

#include <array>
#include <memory>

#include "trireme/optim/optimizer.h"

namespace trireme::optim {

class TwoRules final : public Optimizer {
 public:
  TwoRules(std::unique_ptr<Optimizer> first, std::unique_ptr<Optimizer> second);

  Grain grain() const noexcept override;
  std::vector<std::string> state_names() const override { return names_; }
  using Optimizer::update;
  // REQUIRES: slices of rule 0 or 1.
  void update(std::span<const Slice> slices, std::int64_t step,
              double gradient_scale = 1.0) const override;

 private:
  struct Rule {
    std::unique_ptr<Optimizer> optimizer;
    std::vector<std::size_t> states;  // where its own lie among all
  };

  std::array<Rule, 2> rules_;
  std::vector<std::string> names_;
};

}  // namespace trireme::optim
