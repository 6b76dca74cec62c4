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
  void update(std::span<const Slice> slices, std::int64_t step,
              double gradient_scale = 1.0) const override {
    run(slices, step, gradient_scale, nullptr);
  }
  void update(std::span<const Slice> slices, std::int64_t step, double gradient_scale,
              Guard& guard) const override {
    run(slices, step, gradient_scale, &guard);
  }

 private:
  void run(std::span<const Slice> slices, std::int64_t step, double gradient_scale,
           Guard* guard) const;
  AdagradConfig config_;
};

}  // namespace trireme::optim
