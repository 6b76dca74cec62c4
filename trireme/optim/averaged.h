// Averaged is a rule that also keeps a mean of the weights that another rule makes: exponential
// (EMA) or of equal parts (SWA), as torch.optim.swa_utils has them.
//
// State:   the rule's own, then "average_lag": the mean less the weights. It begins as zeros, as
//          all state does, and so a parameter that was never updated is its own mean. A step in
//          which a parameter has no gradient does not count for its mean.
// Threads: as Optimizer.

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
  using Optimizer::update;
  void update(std::span<const Slice> slices, std::int64_t step,
              double gradient_scale = 1.0) const override;

  // What part of the mean the weights of this update become.
  double share_of(std::int64_t step) const noexcept;

 private:
  std::unique_ptr<Optimizer> rule_;
  double decay_ = 0;
  std::int64_t begin_ = 1;
  std::int64_t every_ = 1;
  bool is_even_ = false;  // all parts alike, whatever the decay
};

}  // namespace trireme::optim
