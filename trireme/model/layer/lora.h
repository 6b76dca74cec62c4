// LoRA trains a low-rank change to a layer whose weights stay frozen: y = W x + b + s B A x, where
// A has `rank` rows and B has `rank` columns. B is initialized to zero, so the model starts
// unchanged.
//
// Names:         a layer's `weight` has lora_a (rank, inputs) and lora_b (outputs, rank) beside it.
// Merging:       W becomes W + s B A, and the layer costs the same as before. A and B are kept, and
//                training them while merged has no effect.
// Thread safety: as torch::nn::Module.
// Lifetime:      the layers share ownership of what is attached to them.

#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "trireme/model/layer/linear.h"
#include "trireme/model/model.h"

namespace trireme::model {

class Lora final : public Adapter<Linear> {
 public:
  Lora(at::Tensor a, at::Tensor b, double scale);

  at::Tensor forward(const Linear& layer, const at::Tensor& x, const Context& context,
                     const Next& next) override;
  void merge(const Linear& layer);

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
  // Whether the layer of this name, without `.weight`, gets an adapter.
  std::function<bool(const std::string& layer)> is_wanted;
};

// Adds LoRA as the last adapter of each wanted layer, and returns the number of these layers. A
// layer with the weight of another one (a tied head) is skipped. REQUIRES: none of them has it
// already.
int attach_lora(Model& model, const LoraOptions& options);

void merge_lora(Model& model);

// Whether this is the name of an A or B.
bool is_lora(const std::string& parameter) noexcept;

}  // namespace trireme::model
