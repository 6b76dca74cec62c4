// Functions that copy gradients between parameters and a flat tensor, and that encode the few
// numbers of a step that are summed over all ranks besides gradients.
//
// Thread safety: one thread at a time per model.

#pragma once

#include <span>
#include <vector>

#include "trireme/parallel/gradient_sync.h"
#include "trireme/parallel/local/flat_model.h"

namespace trireme::parallel::local {

struct Figures {
  Gradients all;              // loss, reported sums, requests to stop or to change the membership
  std::vector<bool> is_used;  // by parameter: whether any rank has a gradient
};

// own_figures() encodes this rank's numbers, and read_figures() decodes their sums over all ranks.
std::vector<double> own_figures(const std::vector<Parameter>& parameters, const Share& mine);
Figures read_figures(std::span<const double> sums);

// Copies the parameters' gradients to `flat`; a parameter without a gradient contributes zeros.
void take_gradients(const FlatModel& model, const at::Tensor& flat);
// Makes the parameters' gradients views of `flat`, and undefined if no rank used the parameter.
void give_gradients(const FlatModel& model, const at::Tensor& flat,
                    const std::vector<bool>& is_used);

}  // namespace trireme::parallel::local
