#include "trireme/parallel/local/common_step.h"

#include <algorithm>

namespace trireme::parallel::local {
namespace {

constexpr std::size_t kReported = 3;
// The number of figures before those of parameters.
constexpr std::size_t kHead = kReported + ReportedSums{}.size();

}  // namespace

std::vector<double> own_figures(const std::vector<Parameter>& parameters, const Share& mine) {
  std::vector<double> figures{mine.loss, mine.is_stop_wanted ? 1.0 : 0.0,
                              mine.is_change_wanted ? 1.0 : 0.0};
  figures.insert(figures.end(), mine.reported.begin(), mine.reported.end());
  for (const Parameter& parameter : parameters) {
    figures.push_back(parameter.tensor.grad().defined() ? 1 : 0);
  }
  return figures;
}

Figures read_figures(std::span<const double> sums) {
  Figures figures{
      .all = {.loss = sums[0], .is_stop_wanted = sums[1] > 0, .is_change_wanted = sums[2] > 0},
      .is_used = {}};
  std::copy_n(&sums[kReported], figures.all.reported.size(), figures.all.reported.begin());
  for (const double sum : sums.subspan(kHead)) figures.is_used.push_back(sum > 0);
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
