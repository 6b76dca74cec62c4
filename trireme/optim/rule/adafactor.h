// Adafactor, as in torch.optim (Shazeer and Stern 2018): of the squared gradients of a matrix it
// keeps only the means of rows and columns, and its steps are proportional to the size of the
// parameter.
//
// State:         both tensors have the size of the parameter, as for every optimizer. A matrix uses
//                the first elements of each, one per row or column; the rest stays zero. Memory
//                that is never written costs nothing on Linux; checkpoints contain it in full.
//                Parameters that are not matrices keep their mean of squares in the first tensor.
// Thread safety: as Optimizer.

#pragma once

#include "trireme/optim/optimizer.h"
#include "trireme/optim/whole_config.h"

namespace trireme::optim {

class Adafactor final : public Optimizer {
 public:
  explicit Adafactor(const AdafactorConfig& config) : config_(config) {}

  Grain grain() const noexcept override { return Grain::WholeTensor; }
  std::vector<std::string> state_names() const override { return {"row_var", "col_var"}; }

 private:
  void run(std::span<const Slice> slices, std::int64_t step, double gradient_scale,
           Guard* guard) const override;
  void update_one(const Slice& slice, std::int64_t step, double gradient_scale) const;

  AdafactorConfig config_;
};

}  // namespace trireme::optim
