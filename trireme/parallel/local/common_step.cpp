#include "trireme/parallel/local/common_step.h"

namespace trireme::parallel::local {

Figures common_figures(const comm::Group& group, const std::vector<Parameter>& parameters,
                       const Share& mine) {
  std::vector<double> sums{mine.loss, mine.is_stop_wanted ? 1.0 : 0.0};
  const std::size_t head = sums.size();
  for (const Parameter& parameter : parameters) {
    sums.push_back(parameter.tensor.grad().defined() ? 1 : 0);
  }
  // Small, and waited for: before whatever else is on its way.
  group
      .all_reduce({sums.data(), sums.size(), comm::DType::Float64}, comm::ReduceOp::Sum,
                  {.label = "prepare", .priority = 1})
      .wait();
  Figures figures{.all = {.loss = sums[0], .is_stop_wanted = sums[1] > 0}, .is_used = {}};
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    figures.is_used.push_back(sums[head + i] > 0);
  }
  return figures;
}

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
