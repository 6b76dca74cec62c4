// Gradual wraps an optimizer. It does not change a slice before the slice's first step and counts
// steps from there, so that parameters that are unfrozen late start like in a new job.
//
// Thread safety: as the wrapped optimizer.

#pragma once

#include <memory>

#include "trireme/optim/optimizer.h"

namespace trireme::optim {

class Gradual final : public Optimizer {
 public:
  explicit Gradual(std::shared_ptr<const Optimizer> rule) : rule_(std::move(rule)) {}

  Grain grain() const noexcept override { return rule_->grain(); }
  std::vector<std::string> state_names() const override { return rule_->state_names(); }

 private:
  void run(std::span<const Slice> slices, std::int64_t step, double gradient_scale,
           Guard* /*guard*/) const override {
    for (const Slice& slice : slices) {
      if (step < slice.first_step) continue;
      rule_->update({&slice, 1}, step - slice.first_step + 1, gradient_scale);
    }
  }
  std::shared_ptr<const Optimizer> rule_;
};

}  // namespace trireme::optim
