// Rmsprop, as in torch.optim: steps divided by the root of a running mean of squared gradients,
// optionally centered, optionally with momentum.
//
// Thread safety: as Optimizer.

#pragma once

#include "trireme/optim/optim_config.h"
#include "trireme/optim/optimizer.h"

namespace trireme::optim {

class Rmsprop final : public Optimizer {
 public:
  explicit Rmsprop(const RmspropConfig& config) : config_(config) {}

  Grain grain() const noexcept override { return Grain::Element; }
  std::vector<std::string> state_names() const override;

 private:
  void run(std::span<const Slice> slices, std::int64_t step, double gradient_scale,
           Guard* guard) const override;
  bool notifies_guard() const noexcept override { return true; }

  RmspropConfig config_;
};

}  // namespace trireme::optim
