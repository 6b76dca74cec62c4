// Sgd: stochastic gradient descent with momentum, as torch.optim.SGD: weight decay is added to the
// gradient, momentum keeps a decaying sum of gradients, Nesterov momentum looks one step ahead.
//
// Thread safety: as Optimizer.

#pragma once

#include "trireme/optim/optim_config.h"
#include "trireme/optim/optimizer.h"

namespace trireme::optim {

class Sgd final : public Optimizer {
 public:
  explicit Sgd(const SgdConfig& config);

  Grain grain() const noexcept override { return Grain::Element; }
  std::vector<std::string> state_names() const override;

 private:
  void run(std::span<const Slice> slices, std::int64_t step, double gradient_scale,
           Guard* guard) const override;
  bool notifies_guard() const noexcept override { return true; }

  SgdConfig config_;
};

}  // namespace trireme::optim
