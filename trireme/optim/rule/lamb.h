// Lamb (You et al. 2020, "Large Batch Optimization for Deep Learning", algorithm 2): the direction
// of Adam plus weight decay, scaled to the norm of the parameter, times the learning rate. Norms
// and biases, and parameters or directions that are zero, use the direction without scaling.
//
// Thread safety: as Optimizer.

#pragma once

#include "trireme/optim/optimizer.h"
#include "trireme/optim/whole_config.h"

namespace trireme::optim {

class Lamb final : public Optimizer {
 public:
  explicit Lamb(const LambConfig& config) : config_(config) {}

  Grain grain() const noexcept override { return Grain::WholeTensor; }
  std::vector<std::string> state_names() const override { return {"exp_avg", "exp_avg_sq"}; }

 private:
  void run(std::span<const Slice> slices, std::int64_t step, double gradient_scale,
           Guard* guard) const override;
  void update_one(const Slice& slice, std::int64_t step, double gradient_scale) const;

  LambConfig config_;
};

}  // namespace trireme::optim
