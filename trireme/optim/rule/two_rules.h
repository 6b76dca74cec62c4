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

#include "trireme/optim/optimizer.h"

namespace trireme::optim {

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
