// What a worker answers about a job that was trained: how good it is, what it writes, its weights.
//
//   --output DIR         the job's folder; its config.toml says what the model is
//   --checkpoint STEP    which one; by default the newest whole one
//   --set key=value      settings that change the recipe's, data.path for example
//
// Failure: NotFound where there is no checkpoint; InvalidInput where it does not fit the model in
//          every name and size; what reading throws.

#pragma once

#include "trireme/train/recipe.h"
#include "trireme/train/worker_words.h"

namespace trireme::train {

// Prints loss, accuracy, and for classes precision, recall, F1 and the confusion matrix; with
// --json as one JSON object.
int answer_eval(const WorkerWords& words, const Kinds& kinds);

// Prints text, or tokens as numbers where the data have no names for them: --prompt, --count,
// --temperature, --top-k, --top-p, --seed.
int answer_generate(const WorkerWords& words, const Kinds& kinds);

// Writes the weights to --file, a .safetensors file, under the names by which they are published.
int answer_export(const WorkerWords& words, const Kinds& kinds);

}  // namespace trireme::train
