// Muon (Jordan 2024), as in torch.optim: a matrix moves along its orthogonalized momentum, computed
// with five steps of a Newton-Schulz iteration in bfloat16. AdamW updates parameters with fewer
// dims, and tables and heads by name. Parameters with more dims are treated as matrices of their
// first dim against the others.
//
// State:         the exp_avg of AdamW is stored in momentum_buffer; for matrices exp_avg_sq stays
//                zero.
// Thread safety: as Optimizer.

#pragma once

#include "trireme/optim/optimizer.h"
#include "trireme/optim/rule/adam.h"
#include "trireme/optim/whole_config.h"

namespace trireme::optim {

class Muon final : public Optimizer {
 public:
  explicit Muon(const MuonConfig& config);

  Grain grain() const noexcept override { return Grain::WholeTensor; }
  std::vector<std::string> state_names() const override {
    return {"momentum_buffer", "exp_avg_sq"};
  }

 private:
  void run(std::span<const Slice> slices, std::int64_t step, double gradient_scale,
           Guard* guard) const override;
  bool is_matrix(const Slice& slice) const;
  void update_matrix(const Slice& slice, double gradient_scale) const;

  MuonConfig config_;
  Adam adam_;
};

}  // namespace trireme::optim
