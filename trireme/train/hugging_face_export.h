// A trained gpt or llama as a folder that Hugging Face's `from_pretrained` opens: config.json,
// generation_config.json, model.safetensors, and tokenizer.json with tokenizer_config.json where
// the data had a vocabulary.
//
// Tokenizer: that of the training data; of characters or bytes one without merges, so that a token
//            is what it was in training.
// Biases:    GPT-2 has them everywhere: those that a gpt lacks (model.bias = false) are zeros.
// Errors:    Unsupported for another model; Io, Exhausted.
// Threads:   one.

#pragma once

#include <filesystem>

#include "trireme/checkpoint/tensor_source.h"
#include "trireme/train/evaluate/trained_model.h"

namespace trireme::train {

// `tensors` under their published names.
void export_hugging_face(const std::filesystem::path& folder, const TrainedModel& trained,
                         checkpoint::NamedTensors tensors);

}  // namespace trireme::train
