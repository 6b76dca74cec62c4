// Muon (Jordan 2024), as torch.optim's: a matrix moves along its momentum made orthogonal, by five
// steps of a Newton-Schulz iteration in bfloat16. Parameters of fewer dims, and tables and heads by
// name, are AdamW's; those of more dims are matrices of their first dim against the others.
//
// State:   AdamW's exp_avg lies in momentum_buffer; a matrix leaves exp_avg_sq zero.
// Threads: as Optimizer.

#pragma once

#include "trireme/optim/adam.h"
#include "trireme/optim/optimizer.h"
#include "trireme/optim/whole_config.h"

namespace trireme::optim {

class Muon final : public Optimizer {
 public:
  explicit Muon(const MuonConfig& config);

  Grain grain() const noexcept override { return Grain::WholeTensor; }
  std::vector<std::string> state_names() const override {
    return {"momentum_buffer", "exp_avg_sq"};
  }
  using Optimizer::update;
  void update(std::span<const Slice> slices, std::int64_t step,
              double gradient_scale = 1.0) const override;

 private:
  bool is_matrix(const Slice& slice) const;
  void update_matrix(const Slice& slice, double gradient_scale) const;

  MuonConfig config_;
  Adam adam_;
};

}  // namespace trireme::optim
