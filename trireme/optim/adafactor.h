// Adafactor, as torch.optim's (Shazeer and Stern 2018): of the squared gradients of a matrix it
// keeps the means of rows and of columns alone, and steps in proportion to the parameter's size.
//
// State:   both tensors are as large as the parameter, as every rule's; a matrix uses the first
//          elements of each, as many as it has rows or columns, and the rest stays zero. Memory
//          that is never written costs nothing on Linux; checkpoints have it whole. What is no
//          matrix keeps its mean of squares in the first.
// Threads: as Optimizer.

#pragma once

#include "trireme/optim/optimizer.h"
#include "trireme/optim/whole_config.h"

namespace trireme::optim {

class Adafactor final : public Optimizer {
 public:
  explicit Adafactor(const AdafactorConfig& config) : config_(config) {}

  Grain grain() const noexcept override { return Grain::WholeTensor; }
  std::vector<std::string> state_names() const override { return {"row_var", "col_var"}; }
  using Optimizer::update;
  void update(std::span<const Slice> slices, std::int64_t step,
              double gradient_scale = 1.0) const override;

 private:
  void update_one(const Slice& slice, std::int64_t step, double gradient_scale) const;

  AdafactorConfig config_;
};

}  // namespace trireme::optim
