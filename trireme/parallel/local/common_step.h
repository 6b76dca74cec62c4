// Functions that copy gradients between parameters and a flat tensor.
//
// Thread safety: one thread at a time per model.

#pragma once

#include <vector>

#include "trireme/parallel/local/flat_model.h"

namespace trireme::parallel::local {

// Copies the parameters' gradients to `flat`; a parameter without a gradient contributes zeros.
void take_gradients(const FlatModel& model, const at::Tensor& flat);
// Makes the parameters' gradients views of `flat`, and undefined if no rank used the parameter.
void give_gradients(const FlatModel& model, const at::Tensor& flat,
                    const std::vector<bool>& is_used);

}  // namespace trireme::parallel::local
