// Adagrad, as in torch.optim: the steps of each element shrink with the sum of its squared
// gradients.
//
// Thread safety: as Optimizer.

#pragma once

#include "trireme/optim/optim_config.h"
#include "trireme/optim/optimizer.h"

namespace trireme::optim {

class Adagrad final : public Optimizer {
 public:
  explicit Adagrad(const AdagradConfig& config) : config_(config) {}

  Grain grain() const noexcept override { return Grain::Element; }
  std::vector<std::string> state_names() const override { return {"sum"}; }

 private:
  void run(std::span<const Slice> slices, std::int64_t step, double gradient_scale,
           Guard* guard) const override;
  bool notifies_guard() const noexcept override { return true; }

  AdagradConfig config_;
};

}  // namespace trireme::optim
