// LoRA learns a change of low rank to a layer that stays as it is: y = W x + b + s B A x, where A
// has `rank` rows and B as many columns. B begins as zeros, and so the model as it was.
//
// Names:    a layer's `weight` has lora_a (rank, inputs) and lora_b (outputs, rank) beside it.
// Merging:  W becomes W + s B A and the layer costs what it did; unmerging takes it off again, up
//           to rounding. A and B stay, and what is trained meanwhile is not seen.
// Threads:  as torch::nn::Module.
// Lifetime: the layers share what is attached to them.

#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "trireme/model/linear.h"
#include "trireme/model/model.h"

namespace trireme::model {

class Lora final : public LinearStrategy {
 public:
  Lora(at::Tensor a, at::Tensor b, double scale);

  at::Tensor forward(const Linear& layer, const at::Tensor& x, const Context& context) override;
  void merge(const Linear& layer);
  void unmerge(const Linear& layer);
  bool is_merged() const noexcept { return is_merged_; }

 private:
  at::Tensor change() const;

  at::Tensor a_;
  at::Tensor b_;
  double scale_;
  bool is_merged_ = false;
};

struct LoraOptions {
  std::int64_t rank = 8;
  double scale = 1;
  std::uint64_t seed = 1;
  std::function<bool(const std::string& layer)> is_wanted;  // by the layer's name, without .weight
};

// Says how many layers it was attached to. One whose weight is another's (a tied head) is passed
// over. REQUIRES: those layers have no other strategy.
int attach_lora(Model& model, const LoraOptions& options);

void merge_lora(Model& model);
void unmerge_lora(Model& model);

// Whether a parameter's name is that of an A or B.
bool is_lora(const std::string& parameter) noexcept;

}  // namespace trireme::model
