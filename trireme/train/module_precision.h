// What a recipe says of the precision of parts of a model: train.module_precision, a list of
// "pattern=type" in which * stands for anything and the last that fits counts.
//
// Meaning: a block computes in the type of the last pattern that fits the name of any of its
//          parameters; blocks that none fits compute as train.precision says.
// Threads: the model is the caller's while this runs.
// Failure: InvalidInput for a pattern that fits nothing, a model that is not made of blocks, or
//          types of 16 bits that do not go together.

#pragma once

#include <string>
#include <vector>

#include "trireme/model/model.h"
#include "trireme/train/recipe/config.h"

namespace trireme::train {

void set_module_precisions(model::Model& model, const TrainConfig& config);

}  // namespace trireme::train
