// Adam and AdamW, as in torch.optim: running means of gradients and of their squares, with bias
// correction. Adam adds weight decay to the gradient; AdamW applies it to the weights (decoupled).
//
// Thread safety: as Optimizer.

#pragma once

#include "trireme/optim/kernel/rules.h"
#include "trireme/optim/optim_config.h"
#include "trireme/optim/optimizer.h"

namespace trireme::optim {

class Adam final : public Optimizer {
 public:
  explicit Adam(const AdamConfig& config);
  explicit Adam(const AdamwConfig& config);

  Grain grain() const noexcept override { return Grain::Element; }
  std::vector<std::string> state_names() const override { return {"exp_avg", "exp_avg_sq"}; }

 private:
  void run(std::span<const Slice> slices, std::int64_t step, double gradient_scale,
           Guard* guard) const override;
  bool notifies_guard() const noexcept override { return true; }
  template <class T>
  kernel::AdamUpdate<T> rule_of(const Slice& slice, std::int64_t step, double gradient_scale) const;

  double beta1_, beta2_, epsilon_;
  bool is_decay_apart_;
};

}  // namespace trireme::optim
