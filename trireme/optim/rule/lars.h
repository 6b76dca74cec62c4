// Lars (You et al. 2017, "Large Batch Training of Convolutional Networks", algorithm 1): momentum
// with a learning rate per parameter, proportional to the ratio of the parameter's norm to its
// gradient's. Norms and biases, and parameters or gradients that are zero, use the plain learning
// rate.
//
// Thread safety: as Optimizer.

#pragma once

#include "trireme/optim/optimizer.h"
#include "trireme/optim/whole_config.h"

namespace trireme::optim {

class Lars final : public Optimizer {
 public:
  explicit Lars(const LarsConfig& config) : config_(config) {}

  Grain grain() const noexcept override { return Grain::WholeTensor; }
  std::vector<std::string> state_names() const override { return {"momentum_buffer"}; }

 private:
  void run(std::span<const Slice> slices, std::int64_t step, double gradient_scale,
           Guard* guard) const override;
  double ratio_of(const Slice& slice, double gradient_scale) const;

  LarsConfig config_;
};

}  // namespace trireme::optim
