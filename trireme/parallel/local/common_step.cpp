#include "trireme/parallel/local/common_step.h"

namespace trireme::parallel::local {

void take_gradients(const FlatModel& model, const at::Tensor& flat) {
  for (std::size_t i = 0; i < model.parameters().size(); ++i) {
    const at::Tensor& gradient = model.parameters()[i].tensor.grad();
    if (gradient.defined()) {
      model.at(flat, i).copy_(gradient);
    } else {
      model.at(flat, i).zero_();
    }
  }
}

void give_gradients(const FlatModel& model, const at::Tensor& flat,
                    const std::vector<bool>& is_used) {
  for (std::size_t i = 0; i < model.parameters().size(); ++i) {
    at::Tensor parameter = model.parameters()[i].tensor;
    parameter.mutable_grad() = is_used[i] ? model.at(flat, i) : at::Tensor();
  }
}

}  // namespace trireme::parallel::local
