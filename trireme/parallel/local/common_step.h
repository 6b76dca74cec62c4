// Gradients between parameters and a flat tensor, and what all ranks have to know of a step
// besides.
//
// Threads: one.

#pragma once

#include <span>
#include <vector>

#include "trireme/parallel/gradient_sync.h"
#include "trireme/parallel/local/flat_model.h"

namespace trireme::parallel::local {

struct Figures {
  Gradients all;              // loss and wishes
  std::vector<bool> is_used;  // by parameter: whether any rank has a gradient
};

// What a rank brings, to be added up, and what the sums say.
std::vector<double> own_figures(const std::vector<Parameter>& parameters, const Share& mine);
Figures read_figures(std::span<const double> sums);

// Zeros where there is none.
void take_gradients(const FlatModel& model, const at::Tensor& flat);
// As views of it, undefined where nobody used the parameter.
void give_gradients(const FlatModel& model, const at::Tensor& flat,
                    const std::vector<bool>& is_used);

}  // namespace trireme::parallel::local
