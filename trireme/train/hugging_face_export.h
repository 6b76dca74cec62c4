// Writes a trained gpt or llama as a folder that Hugging Face's `from_pretrained` opens:
// config.json, generation_config.json, model.safetensors, and, if the data had a vocabulary,
// tokenizer.json and tokenizer_config.json.
//
// Tokenizer:     that of the training data. For characters or bytes it has no merges, so that token
//                ids mean the same as in training.
// Biases:        GPT-2 has biases in every layer. Those that a gpt lacks (model.bias = false) are
//                written as zeros.
// Errors:        Unsupported for another model; Io, Exhausted.
// Thread safety: one thread.

#pragma once

#include <filesystem>

#include "trireme/checkpoint/tensor_source.h"
#include "trireme/train/evaluate/trained_model.h"

namespace trireme::train {

// `tensors` have the names under which the model is published.
void export_hugging_face(const std::filesystem::path& folder, const TrainedModel& trained,
                         checkpoint::NamedTensors tensors);

}  // namespace trireme::train
