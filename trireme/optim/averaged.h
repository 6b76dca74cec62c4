// Averaged wraps an optimizer and also keeps an average of its weights: exponential (EMA) or with
// equal weights (SWA), as in torch.optim.swa_utils.
//
// State:         that of the wrapped optimizer, then "average_lag": the average minus the weights.
//                It starts at zero, like all state, so the average of a parameter that was never
//                updated is the parameter itself. A step in which a parameter has no gradient does
//                not count for its average.
// Thread safety: as Optimizer.

#pragma once

#include <memory>

#include "trireme/optim/average_config.h"
#include "trireme/optim/optimizer.h"

namespace trireme::optim {

inline constexpr const char* kAverageLag = "average_lag";

class Averaged final : public Optimizer {
 public:
  Averaged(std::unique_ptr<Optimizer> rule, const EmaConfig& config);
  Averaged(std::unique_ptr<Optimizer> rule, const SwaConfig& config);

  Grain grain() const noexcept override { return rule_->grain(); }
  std::vector<std::string> state_names() const override;

  // The weight of this update's values in the average.
  double share_of(std::int64_t step) const noexcept;

 private:
  void run(std::span<const Slice> slices, std::int64_t step, double gradient_scale,
           Guard* guard) const override;
  std::unique_ptr<Optimizer> rule_;
  double decay_ = 0;
  std::int64_t begin_ = 1;
  std::int64_t every_ = 1;
  bool is_even_ = false;  // equal weights, whatever the decay
};

}  // namespace trireme::optim
