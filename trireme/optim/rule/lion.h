// Lion (Chen et al. 2023, "Symbolic Discovery of Optimization Algorithms", algorithm 2): every
// element moves by the learning rate, in the direction of the sign of a mean of gradients. Weight
// decay is decoupled from the gradient.
//
// Thread safety: as Optimizer.

#pragma once

#include "trireme/optim/optim_config.h"
#include "trireme/optim/optimizer.h"

namespace trireme::optim {

class Lion final : public Optimizer {
 public:
  explicit Lion(const LionConfig& config) : config_(config) {}

  Grain grain() const noexcept override { return Grain::Element; }
  std::vector<std::string> state_names() const override { return {"exp_avg"}; }

 private:
  void run(std::span<const Slice> slices, std::int64_t step, double gradient_scale,
           Guard* guard) const override;
  bool notifies_guard() const noexcept override { return true; }

  LionConfig config_;
};

}  // namespace trireme::optim
