// Gradients between parameters and a flat tensor, and what all ranks have to know of a step
// besides.
//
// Threads: one. common_figures() is a collective.

#pragma once

#include <vector>

#include "trireme/comm/group.h"
#include "trireme/parallel/agree.h"
#include "trireme/parallel/local/flat_model.h"

namespace trireme::parallel::local {

struct Figures {
  Gradients all;              // loss and wishes
  std::vector<bool> is_used;  // by parameter: whether any rank has a gradient
};

Figures common_figures(const comm::Group& group, const std::vector<Parameter>& parameters,
                       const Share& mine);

// Zeros where there is none.
void take_gradients(const FlatModel& model, const at::Tensor& flat);
// As views of it, undefined where nobody used the parameter.
void give_gradients(const FlatModel& model, const at::Tensor& flat,
                    const std::vector<bool>& is_used);

}  // namespace trireme::parallel::local
