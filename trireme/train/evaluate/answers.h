// What a worker answers about a job that was trained: how good it is, what it writes, its weights.
//
//   --output DIR         the job's folder
//   --checkpoint best|N  the best by eval.metric, or that of step N; by default the newest whole
//   one
//   --set key=value      settings that change the recipe's, data.path for example
//
// Failure: NotFound where there is no checkpoint; InvalidInput where it does not fit the model in
//          every name and size; what reading throws.

#pragma once

#include "trireme/train/evaluate/trained_model.h"
#include "trireme/train/recipe/recipe.h"
#include "trireme/train/recipe/worker_words.h"

namespace trireme::train {

// That of --output, --checkpoint and --set.
TrainedModelOptions wanted_model(const WorkerWords& words);

// Prints loss, accuracy, and for classes precision, recall, F1 and the confusion matrix; with
// --json as one JSON object. With others beside it, what they reach together:
//
//   --with DIR,DIR       more jobs, or --snapshots N, the last checkpoints of this one
//   --ensemble HOW       average (by default), vote or stack
//   --against DIR        a second job: whether they differ by more than chance
//   --bleu N             texts that a model of texts goes on with, scored against the data's
int answer_eval(const WorkerWords& words, const Kinds& kinds);

// Prints text, or tokens as numbers where the data have no names for them: --prompt, --count,
// --temperature, --top-k, --top-p, --seed. Of a gan or an autoencoder, draws --count pictures of
// each class: see drawing.h.
int answer_generate(const WorkerWords& words, const Kinds& kinds);

// Writes what the model predicts for the samples in --input, without their targets, to --file or
// standard output, in --format csv or jsonl: see prediction.h.
int answer_predict(const WorkerWords& words, const Kinds& kinds);

// Writes the weights to --file: a .safetensors file, under the names by which they are published,
// or with any other name a Hugging Face folder of a gpt or llama.
int answer_export(const WorkerWords& words, const Kinds& kinds);

}  // namespace trireme::train
