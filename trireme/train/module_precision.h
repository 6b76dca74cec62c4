// The precision of a model and its parts. set_module_precisions() applies train.module_precision, a
// list of "pattern=type" in which * matches any text.
//
// A block computes in the type of the last pattern that matches the name of any of its parameters.
// Blocks that no pattern matches use train.precision.
//
// Errors:        InvalidInput for a pattern that matches nothing, for a model that is not made of
//                blocks, and for bfloat16 together with float16.
// Thread safety: no other thread uses the model during a call.

#pragma once

#include <c10/core/ScalarType.h>

#include <optional>

#include "trireme/model/model.h"
#include "trireme/train/recipe/config.h"

namespace trireme::train {

// The type of matrix products in this precision; nullopt if it is the type of the weights.
std::optional<c10::ScalarType> narrow_type(Precision precision);

void set_module_precisions(model::Model& model, const TrainConfig& config);

}  // namespace trireme::train
