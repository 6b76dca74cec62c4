// The commands of a worker for a trained job: evaluate, generate, predict and export.
//
//   --output DIR         the job's folder
//   --checkpoint best|N  the best checkpoint by eval.metric, or that of step N; by default the
//                        newest intact one
//   --set key=value      overrides a setting of the recipe, for example data.path
//
// Errors:        NotFound if there is no checkpoint; InvalidInput if it does not match the model in
//                every name and size; what reading throws.
// Thread safety: one thread.

#pragma once

#include "trireme/train/evaluate/trained_model.h"
#include "trireme/train/recipe/recipe.h"
#include "trireme/train/recipe/worker_words.h"

namespace trireme::train {

// The options of --output, --checkpoint and --set.
TrainedModelOptions wanted_model(const WorkerWords& words);

// Prints loss, accuracy, and for classes precision, recall, F1 and the confusion matrix; with
// --json as one JSON object. Can also evaluate ensembles and compare jobs:
//
//   --with DIR,DIR       an ensemble with other jobs
//   --snapshots N        an ensemble of the last N checkpoints of this job
//   --ensemble HOW       average (default), vote or stack
//   --against DIR        compares with a second job, with tests of significance
//   --bleu N             the BLEU score of N texts that a language model continues
int answer_eval(const WorkerWords& words, const Kinds& kinds);

// Prints generated text, or token ids if the data have no names for tokens. Options: --prompt,
// --count, --temperature, --top-k, --top-p, --seed. For a gan or an autoencoder, draws --count
// images of each class: see drawing.h.
int answer_generate(const WorkerWords& words, const Kinds& kinds);

// Writes predictions for the samples in --input, which have no targets, to --file or standard
// output, in --format csv or jsonl: see prediction.h.
int answer_predict(const WorkerWords& words, const Kinds& kinds);

// Writes the weights to --file: to a .safetensors file, with the names under which the model is
// published, or for any other name to a Hugging Face folder (gpt or llama).
int answer_export(const WorkerWords& words, const Kinds& kinds);

}  // namespace trireme::train
